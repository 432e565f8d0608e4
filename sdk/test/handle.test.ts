/** The handle of one sandbox: what each method sends for it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SandboxHandle, Sandhaven } from '../src/index.ts';
import { events, problem, result, ScriptedService } from './scripted-service.ts';

let service: ScriptedService;
let client: Sandhaven;
let box: SandboxHandle;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  client = new Sandhaven({ url: service.url, apiKey: 'key' });
  box = client.sandbox('demo');
});

afterEach(() => service.close());

const sent = () => service.asked.map(({ path, body }) => [path, body === '' ? '' : JSON.parse(body)]);

it('is that of the sandbox that was created', async () => {
  service.answers(result({ id: 'sb_1', name: 'demo' }), result({ ports: [] }));
  const created = await client.create({ name: 'demo' });
  await created.ports();
  expect(created.id).toBe('sb_1');
  expect(sent()).toEqual([
    ['/v1/tools/Sandbox.CreateSandbox', { name: 'demo' }],
    ['/v1/tools/Sandbox.ListPorts', { sandbox: 'sb_1' }],
  ]);
});

it('takes what a tool requires by position, and its other parameters with the options of the call', async () => {
  service.answers(
    events('event: output\ndata: {"stream":"stdout","base64":"YQ=="}\n\nevent: result\ndata: {}\n\n'),
  );
  const seen: string[] = [];
  await box.run('npm test', { cwd: 'app', timeout_seconds: 9, onStdout: (text) => seen.push(text) });
  expect(seen).toEqual(['a']);
  expect(sent()).toEqual([
    [
      '/v1/tools/Sandbox.RunCommand?output=bytes',
      { cwd: 'app', timeout_seconds: 9, sandbox: 'demo', command: 'npm test' },
    ],
  ]);
  await expect(box.stop({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
});

it.each<[string, () => Promise<unknown>, object]>([
  ['RunCode', () => box.code.run('1', { timeout_seconds: 2 }), { code: '1', timeout_seconds: 2 }],
  [
    'WriteFile',
    () => box.files.write('a', 'b', { durable: true }),
    { path: 'a', content: 'b', durable: true },
  ],
  ['MoveFile', () => box.files.move('a', 'b'), { source: 'a', destination: 'b' }],
  ['GetFileInfo', () => box.files.info('a'), { path: 'a' }],
  ['RunSessionCommand', () => box.sessions.run('s', 'ls'), { session_id: 's', command: 'ls' }],
  ['GitCreateBranch', () => box.git.createBranch('topic'), { branch: 'topic' }],
  ['SetSandboxLabels', () => box.setLabels({ a: 'b' }), { labels: { a: 'b' } }],
])('calls Sandbox.%s', async (tool, call, parameters) => {
  service.answers(result({}));
  await call();
  expect(sent()).toEqual([[`/v1/tools/Sandbox.${tool}`, { ...parameters, sandbox: 'demo' }]]);
});

it('streams files of its sandbox', async () => {
  service.answers(result({ path: 'a', bytes_written: 1, created: true }));
  await box.files.upload('a', 'x');
  expect(service.asked[0]).toMatchObject({ method: 'PUT', path: '/v1/sandboxes/demo/files?path=a' });
});

it('shows and changes details of files, and deletes sessions', async () => {
  const entry = {
    ...{ path: 'b', type: 'symlink', size: 1, mode: '0777', owner: 'ann', group: 'dev', uid: 1000, gid: 50 },
    ...{ modified_time: '2026-01-02T03:04:05.000Z', target: 'c', metadata: { origin: 'build' } },
  };
  service.answers(
    result({ entries: [entry], total_count: 1 }),
    result({ path: 'a', changed: true }),
    result({ session_id: 's', deleted: true }),
  );
  const page = await box.files.details('a', { user: 'ann', depth: 0, maxItems: 3, offset: 1 });
  expect(page).toEqual({ entries: [entry], total_count: 1 });
  const options = {
    user: 'root',
    mode: '640',
    owner: 'ann',
    group: '50',
    metadata: { k: 'v' },
    timeoutMs: 60_000,
  };
  expect(await box.files.setAttributes('a', options)).toEqual({ path: 'a', changed: true });
  expect(await box.sessions.delete('s')).toEqual({ session_id: 's', deleted: true });
  expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
    [
      '/v1/admin/GetFileDetails',
      '{"sandbox":"demo","path":"a","user":"ann","depth":0,"max_items":3,"offset":1}',
    ],
    [
      '/v1/admin/SetFileAttributes',
      '{"sandbox":"demo","path":"a","user":"root","mode":"640","owner":"ann","group":"50","metadata":{"k":"v"}}',
    ],
    ['/v1/admin/DeleteSession', '{"sandbox":"demo","session_id":"s"}'],
  ]);
});

it('sets and removes its deadline', async () => {
  const at = { sandbox: 'sb_1', deadline_at: '2030-01-01T00:00:00.000Z', deadline_action: 'delete' };
  const none = { sandbox: 'sb_1', deadline_at: null, deadline_action: null };
  service.answers(result(at), result(none));
  expect(await box.setDeadline({ seconds: 3_600, action: 'delete', timeoutMs: 5_000 })).toEqual(at);
  expect(await box.setDeadline({ seconds: 0 })).toEqual(none);
  expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/admin/SetSandboxDeadline', '{"sandbox":"demo","seconds":3600,"action":"delete"}'],
    ['/v1/admin/SetSandboxDeadline', '{"sandbox":"demo","seconds":0}'],
  ]);
});

it('pauses, wakes, and sets its sleep', async () => {
  const awake = { sandbox: 'sb_1', asleep_since: null, sleep_after_seconds: 60, wake: true };
  const asleep = { ...awake, asleep_since: '2030-01-01T00:00:00.000Z' };
  service.answers(result(asleep), result(awake), result(awake));
  expect(await box.pause()).toEqual(asleep);
  expect(await box.resume({ timeoutMs: 5_000 })).toEqual(awake);
  expect(await box.setSleep({ afterSeconds: 60, wake: true })).toEqual(awake);
  expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/admin/PauseSandbox', '{"sandbox":"demo"}'],
    ['/v1/admin/ResumeSandbox', '{"sandbox":"demo"}'],
    ['/v1/admin/SetSandboxSleep', '{"sandbox":"demo","after_seconds":60,"wake":true}'],
  ]);
});

it('shows what it has used in its last hour', async () => {
  const history = { sandbox: 'sb_1', step_seconds: 10, samples: [], out_of_memory: [] };
  service.answers(result(history));
  expect(await box.usageHistory()).toEqual(history);
  expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/admin/GetUsageHistory', '{"sandbox":"demo"}'],
  ]);
});

it('makes a token of its own', async () => {
  const made = { sandbox: 'sb_1', token: 'sbt_1', token_id: 'tok_1', expires_at: '2030-01-01T00:00:00.000Z' };
  service.answers(result(made), result(made));
  expect(await box.createToken({ expiresInMinutes: 5 })).toEqual(made);
  expect(await box.createToken()).toEqual(made);
  expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/admin/CreateSandboxToken', '{"sandbox":"demo","expires_in_minutes":5}'],
    ['/v1/admin/CreateSandboxToken', '{"sandbox":"demo"}'],
  ]);
});

it('opens ports to everybody, and closes them', async () => {
  const all = { sandbox: 'sb_1', all: true, ports: [], allowed: true };
  const some = { sandbox: 'sb_1', all: false, ports: [80], allowed: true };
  service.answers(result(all), result(some));
  expect(await box.setPublicPorts('all')).toEqual(all);
  expect(await box.setPublicPorts([80])).toEqual(some);
  expect(service.asked.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/admin/SetPublicPorts', '{"sandbox":"demo","all":true}'],
    ['/v1/admin/SetPublicPorts', '{"sandbox":"demo","ports":[80]}'],
  ]);
});

it('takes a snapshot of itself, comes back to it, and forks into handles, with the reason of each that did not start', async () => {
  service.answers(
    result({ id: 'snap_1', name: 'point', state: 'active' }),
    result({
      sandboxes: [
        { id: 'sb_1', name: 'way-1' },
        { id: 'sb_3', name: 'way-3' },
      ],
      failed: [{ code: 'already_exists', detail: 'taken' }],
    }),
    result({ ports: [] }),
    problem('resource_exhausted', 429),
    result({ id: 'sb_1', state: 'started' }),
  );
  expect((await box.snapshot({ name: 'point', timeoutMs: 60_000 })).name).toBe('point');
  const { sandboxes, failed } = await box.fork({ count: 3, name: 'way', maxRetries: 0 });
  expect(sandboxes.map(({ id }) => id)).toEqual(['sb_1', 'sb_3']);
  expect(failed).toEqual([{ code: 'already_exists', detail: 'taken' }]);
  await sandboxes[1]?.ports();
  await expect(box.fork({ maxRetries: 0 })).rejects.toMatchObject({ code: 'resource_exhausted' });
  expect((await box.rollback('point', { timeoutMs: 60_000 })).state).toBe('started');
  expect(sent()).toEqual([
    ['/v1/tools/Sandbox.SnapshotSandbox', { name: 'point', sandbox: 'demo' }],
    ['/v1/tools/Sandbox.ForkSandbox', { count: 3, name: 'way', sandbox: 'demo' }],
    ['/v1/tools/Sandbox.ListPorts', { sandbox: 'sb_3' }],
    ['/v1/tools/Sandbox.ForkSandbox', { sandbox: 'demo' }],
    ['/v1/tools/Sandbox.RollbackSandbox', { snapshot: 'point', sandbox: 'demo' }],
  ]);
});

describe('at the end of its block', () => {
  it('deletes its sandbox', async () => {
    service.answers(result({ deleted: true }));
    await box[Symbol.asyncDispose]();
    expect(sent()).toEqual([['/v1/tools/Sandbox.DeleteSandbox', { sandbox: 'demo' }]]);
  });

  it('takes one that is gone for deleted, and no other failure', async () => {
    service.answers(problem('not_found', 404), problem('permission_denied', 403));
    await box[Symbol.asyncDispose]();
    await expect(box[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'permission_denied' });
  });
});
