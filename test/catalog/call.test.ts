/** From a name and raw parameters to a result of the shape that the catalogue promises. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallContext } from '../../src/catalog/base/tool.ts';
import { callTool, findTool } from '../../src/catalog/call.ts';
import { permissions } from '../../src/catalog/files/listing.ts';
import { tools } from '../../src/catalog/index.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { createFakeServices, type FakeServices, user } from '../surfaces/fakes/fake-services.ts';
import { everyTool } from './every-tool.ts';

let fake: FakeServices;
let context: CallContext;

beforeEach(() => {
  fake = createFakeServices();
  fake.files.set('a.txt', { content: Buffer.from('one\ntwo\nthree'), mode: 0o644 });
  fake.files.set('b.bin', { content: Buffer.from([0xff, 0x0a, 0x41]), mode: 0o4755 });
  context = {
    caller: user,
    services: fake.services,
    requestId: 'req_1',
    origin: { transport: 'http', address: null },
    signal: new AbortController().signal,
    progress: () => {},
  };
});

/** Also checks the result against the tool's own output schema, which the service itself does not do. */
async function call(
  name: string,
  parameters: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const whole = name.includes('.') ? name : `Sandbox.${name}`;
  const result = await callTool(whole, parameters, context);
  expect(findTool(whole).output.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
  return result;
}

describe('finding a tool', () => {
  it('[WIRE-MCP-02] [WIRE-MCP-03] takes the dotted name and the one with an underscore', () => {
    expect(findTool('Sandbox.RunCode')).toBe(findTool('Sandbox_RunCode'));
  });

  it.each([
    ['CreateSandbox', 'Sandbox.CreateSandbox'],
    ['Sandbox.CreateSandbx', 'Sandbox.CreateSandbox'],
    ['sandbox.run_code', 'Sandbox.RunCode'],
    ['run_command', 'Sandbox.RunCommand'],
  ])('suggests for %s the tool %s', async (given, meant) => {
    const error = await callTool(given, {}, context).catch((thrown: unknown) => thrown as SandhavenError);
    expect(error).toMatchObject({ code: 'not_found', fields: { resource: 'tool' } });
    expect((error as SandhavenError).fields.hint).toContain(meant);
  });

  it.each(['', '__proto__', 'constructor', 'toString', '\0'])('refuses the name %j', async (name) => {
    await expect(callTool(name, {}, context)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses a name of a million characters', async () => {
    const name = 'x'.repeat(1_000_000);
    await expect(callTool(name, {}, context)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('results', () => {
  it('has a test for every tool', async () => {
    const tested = new Set<string>();
    const real = call;
    for (const [name, parameters] of everyTool) {
      await real(name, parameters);
      tested.add(name.includes('.') ? name : `Sandbox.${name}`);
    }
    expect([...tested].sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  it('[SBX-CREATE-03] [WIRE-BOX-05] [WIRE-BOX-11] [WIRE-BOX-12] CreateSandbox gives the record without env_vars', async () => {
    const result = await call('CreateSandbox', { name: 'demo', env_vars: { A: '1' }, labels: { a: 'b' } });
    expect(result).toMatchObject({
      name: 'demo',
      state: 'started',
      status: 'started',
      language: 'python',
      snapshot: null,
      image: 'base',
      resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
      labels: { a: 'b' },
      auto_stop_minutes: 15,
      auto_archive_minutes: 10_080,
      auto_delete_minutes: -1,
      ephemeral: false,
      created_at: '2026-01-02T03:04:05.000Z',
      stopped_at: null,
    });
    expect(result).not.toHaveProperty('env_vars');
    expect(result).not.toHaveProperty('operation');
    expect(result).not.toHaveProperty('state_reason');
  });

  it('[WIRE-BOX-06] [WIRE-BOX-07] shows operation and reason where there are any', async () => {
    const { id } = await call('CreateSandbox', { name: 'demo' });
    Object.assign(fake.sandboxes.get(String(id)) ?? {}, { operation: 'stopping', stateReason: 'why' });
    expect(await call('GetSandbox', { sandbox: 'demo' })).toMatchObject({
      operation: 'stopping',
      state_reason: 'why',
    });
  });

  it('[SBX-GET-02] [SBX-GET-03] [WIRE-BOX-10] GetSandbox redacts secrets by default', async () => {
    const env_vars = { MY_API_KEY: 'a', oauthToken: 'b', monkey: 'c', Plain: 'd', PASSWORDS: 'e' };
    await call('CreateSandbox', { name: 'demo', env_vars });
    expect((await call('GetSandbox', { sandbox: 'demo' }))['env_vars']).toEqual({
      MY_API_KEY: '[redacted]',
      oauthToken: '[redacted]',
      monkey: '[redacted]',
      Plain: 'd',
      PASSWORDS: '[redacted]',
    });
    expect((await call('GetSandbox', { sandbox: 'demo' }))['usage']).toEqual({
      memory_bytes: 5_000_000,
      disk_bytes: 90_000_000,
    });
    const raw = await call('GetSandbox', { sandbox: 'demo', include_raw_env_vars: true });
    expect(raw['env_vars']).toEqual(env_vars);
  });

  it('[SBX-LIST-02] [WIRE-BOX-16] ListSandboxes counts pages, and a page past the end is empty', async () => {
    for (const name of ['a', 'b', 'c']) await call('CreateSandbox', { name });
    const page = await call('ListSandboxes', { page_size: 2, page: 2 });
    expect(page).toMatchObject({ total_count: 3, page: 2, page_size: 2, total_pages: 2 });
    expect(page['sandboxes']).toMatchObject([{ name: 'a' }]);
    expect(await call('ListSandboxes', { page: 99 })).toMatchObject({
      sandboxes: [],
      page: 99,
      total_pages: 1,
    });
  });

  it('[WIRE-BOX-15] a stop that deletes reports the deletion', async () => {
    await call('CreateSandbox', { name: 'demo', ephemeral: true });
    expect(await call('StopSandbox', { sandbox: 'demo' })).toMatchObject({ name: 'demo', deleted: true });
    await call('CreateSandbox', { name: 'kept' });
    expect(await call('StopSandbox', { sandbox: 'kept' })).not.toHaveProperty('deleted');
  });

  it('[WIRE-BOX-14] DeleteSandbox gives id, name and deleted', async () => {
    const { id } = await call('CreateSandbox', { name: 'demo' });
    expect(await call('DeleteSandbox', { sandbox: 'demo' })).toEqual({ id, name: 'demo', deleted: true });
  });

  it('[WIRE-SNAP-01] CreateSnapshot gives the whole record, standard sizes for what is left out', async () => {
    const parameters = { name: 's', image: 'debian:13', entrypoint: ['sh'], resources: { gpu: 1 } };
    expect(await call('CreateSnapshot', parameters)).toEqual({
      id: expect.stringMatching(/^snap_[0-9a-z]{16}$/),
      name: 's',
      state: 'pending',
      image: 'debian:13',
      entrypoint: ['sh'],
      resources: { cpu: 2, memory: 4, disk: 20, gpu: 1 },
      region_id: 'local',
      size_bytes: null,
      created_at: '1970-01-01T00:00:00.000Z',
      updated_at: '1970-01-01T00:00:00.000Z',
    });
  });

  it.each([
    ['name', { name: 'snap_x' }],
    ['name', { name: 'a/b' }],
    ['name', { name: 'x'.repeat(64) }],
    ['image', { image: '' }],
    ['entrypoint', { entrypoint: [] }],
    ['entrypoint', { entrypoint: ['a', ''] }],
    ['entrypoint', { entrypoint: ['a\0b'] }],
    ['entrypoint', { entrypoint: [1] }],
    ['entrypoint', { entrypoint: Array(257).fill('x') }],
    ['entrypoint', { entrypoint: Array(40).fill('x'.repeat(1_000)) }],
    ['resources.ram', { resources: { ram: 1 } }],
    ['resources.cpu', { resources: { cpu: 17 } }],
    ['resources.disk', { resources: { disk: 0 } }],
    ['resources.memory', { resources: { memory: 1.5 } }],
    ['resources.gpu', { resources: { gpu: 9 } }],
    ['region_id', { region_id: '' }],
  ])('[SBX-SNAP-02, SBX-SNAP-03] CreateSnapshot refuses %s by name', async (parameter, given) => {
    await expect(call('CreateSnapshot', { name: 's', image: 'debian:13', ...given })).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter },
    });
  });

  it('[WIRE-IDENT-01] ListRegions and WhoAmI', async () => {
    expect(await call('ListRegions')).toEqual({
      regions: [{ id: 'local', name: 'Local', location: { country: '', city: '' } }],
    });
    expect(await call('WhoAmI')).toEqual({ user_id: 'user_1', name: 'Ada', email: 'ada@example.org' });
  });

  it('[SBX-SESSION-05, WIRE-SESSION-06] depend on the status of a session command', async () => {
    await call('CreateSession', { session_id: 's' });
    const ended = await call('RunSessionCommand', { session_id: 's', command: 'x' });
    expect(ended).toEqual({
      session_id: 's',
      command_id: 'cmd_1',
      status: 'completed',
      exit_code: 0,
      output: 'x\n',
    });
    const running = await call('RunSessionCommand', { session_id: 's', command: 'y', async_exec: true });
    expect(running).toEqual({ session_id: 's', command_id: 'cmd_2', status: 'running', output: '' });
    expect(findTool('Sandbox.RunSessionCommand').text?.(ended)).toBe('x\n[cmd_1 is completed, exit code 0]');
    expect(findTool('Sandbox.RunSessionCommand').text?.(running)).toBe('(no output)\n[cmd_2 is running]');
    expect(findTool('Sandbox.RunSessionCommand').text?.({ ...ended, exit_code: 3, output: 'no' })).toBe(
      'no\n[no newline at the end]\n[cmd_1 is completed, exit code 3]',
    );
  });

  it('[WIRE-PORTS-01] [WIRE-PREVIEW-01] ListPorts and GetPortPreviewUrl', async () => {
    const nginx = { name: 'nginx', pid: 7, command: 'nginx: master process' };
    expect(await call('ListPorts')).toEqual({ ports: [{ port: 80, state: 'listening', ...nginx }] });
    expect(await call('GetPortPreviewUrl', { sandbox: 'x', port: 80 })).toEqual({
      ...{ url: 'http://80-x.localhost:1/', port: 80, signed: false, expires_at: null },
      ...{ token: 'key', header: 'x-sandbox-preview-token' },
    });
    expect(
      await call('GetPortPreviewUrl', { sandbox: 'x', port: 80, signed: true, expires_in_seconds: 60 }),
    ).toEqual({
      ...{ url: 'http://80-key.localhost:1/', port: 80, signed: true, token: null, header: null },
      expires_at: '1970-01-01T00:01:00.000Z',
    });
  });

  it('[SBX-FILES-02] [WIRE-FILES-01] ListFiles returns whether there is more', async () => {
    expect(await call('ListFiles', { max_items: 1 })).toEqual({
      path: '.',
      files: [{ name: 'a.txt', type: 'file', size: 13, link: false }],
      total_count: 2,
      has_more: true,
      offset: 0,
    });
    expect(await call('ListFiles', { offset: 1 })).toMatchObject({ has_more: false, offset: 1 });
    expect(await call('ListFiles', { offset: 9 })).toMatchObject({ files: [], has_more: false });
  });

  it('[WIRE-FILES-05] GetFileInfo gives permissions as text and as digits', async () => {
    expect(await call('GetFileInfo', { path: 'b.bin' })).toEqual({
      path: 'b.bin',
      type: 'file',
      size: 3,
      permissions: 'rwsr-xr-x',
      mode: '4755',
      owner: 'root',
      group: 'root',
      modified_time: '2026-01-02T03:04:05.000Z',
    });
    expect([0o7777, 0o7000, 0o644, 0o1777, 0o2640].map(permissions)).toEqual([
      'rwsrwsrwt',
      '--S--S--T',
      'rw-r--r--',
      'rwxrwxrwt',
      'rw-r-S---',
    ]);
  });

  it('[WIRE-FILES-07] [WIRE-FILES-09] ReadFile gives text, or base64 where it is none', async () => {
    expect(await call('ReadFile', { path: 'a.txt', start_line: 2, end_line: 2 })).toEqual({
      path: 'a.txt',
      content: 'two\n',
      encoding: 'utf-8',
      size: 13,
      total_lines: 3,
      start_line: 2,
      end_line: 2,
    });
    expect(await call('ReadFile', { path: 'b.bin' })).toMatchObject({ content: '/wpB', encoding: 'base64' });
    expect(await call('ReadFile', { path: 'b.bin', start_line: 2 })).toMatchObject({ content: 'A' });
  });

  it('[WIRE-FILES-13] [WIRE-FILES-15] WriteFile writes text and base64', async () => {
    expect(await call('WriteFile', { path: 'new', content: 'hé' })).toEqual({
      path: 'new',
      bytes_written: 3,
      created: true,
    });
    await call('WriteFile', { path: 'new', content: '/wpB\n', encoding: 'base64' });
    expect(fake.files.get('new')?.content).toEqual(Buffer.from([0xff, 0x0a, 0x41]));
  });

  it('[WIRE-FILES-15] WriteFile checks base64 before anything is written, and never repeats it', async () => {
    const encoding = 'base64';
    for (const content of ['', 'QQ==', 'QQ', 'QUJ', 'QUI=', 'QUJD', 'QUJD\nQUJD\n']) {
      expect(await call('WriteFile', { path: 'good', content, encoding })).toMatchObject({ path: 'good' });
    }
    for (const content of ['Q', 'Q===', 'a b!', '=', 'QQ=', 'Q=Q=', '-_8=', 'ä']) {
      await expect(call('WriteFile', { path: 'bad', content, encoding })).rejects.toMatchObject({
        ...{ code: 'invalid_argument', message: 'content must be valid base64.' },
        fields: { parameter: 'content', hint: 'content: All of the new content.' },
      });
    }
    expect(fake.files.has('bad')).toBe(false);
  });

  it.each([
    ['', '24 MB of white space'],
    ['!', 'what is none'],
  ])('WriteFile decodes base64 that ends with %j, %s, in less than 100 ms', async (end) => {
    const parameters = { path: 'new', content: `${'a '.repeat(11_999_999)}${end}`, encoding: 'base64' };
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      // In time of the processor, which others on the machine do not lengthen.
      const begun = process.cpuUsage();
      await call('WriteFile', parameters).catch((error: unknown) => {
        if (!(error instanceof SandhavenError)) throw error;
      });
      const { user, system } = process.cpuUsage(begun);
      times.push((user + system) / 1_000);
    }
    expect(Math.min(...times)).toBeLessThan(100);
  });

  it('[WIRE-FILES-16] CreateFolder gives the mode that the folder has', async () => {
    expect(await call('CreateFolder', { path: 'dir', mode: '1750' })).toEqual({
      path: 'dir',
      created: true,
      mode: '1750',
    });
    expect(await call('CreateFolder', { path: 'dir' })).toEqual({
      path: 'dir',
      created: false,
      mode: '1750',
    });
  });

  it('[WIRE-FILES-19] [WIRE-FILES-21] MoveFile and DeleteFile confirm', async () => {
    const moved = { source: 'a.txt', destination: 'c.txt' };
    expect(await call('MoveFile', moved)).toEqual(moved);
    expect(await call('DeleteFile', { path: 'c.txt' })).toEqual({ path: 'c.txt', deleted: true });
  });

  it('[WIRE-EXEC-01] [WIRE-EXEC-02] RunCommand and RunCode give what the process did', async () => {
    const result = await call('RunCommand', { command: 'echo hi' });
    expect(result).toMatchObject({
      output: 'hi\n',
      stdout: 'hi\n',
      stderr: '',
      exit_code: 0,
      timed_out: false,
      truncated: false,
    });
    expect(await call('RunCode', { code: 'exit 3' })).toMatchObject({ exit_code: 3, charts: [] });
  });
});
