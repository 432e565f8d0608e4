import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hostnameOf, knownLater } from '../support/cluster-engine/differences.ts';
import { type Answer, call, must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  // Where the host has GPUs, none of them.
  service = await startService({ flags: ['--gpu-kind', 'nobody.example/gpu'] });
}, 120_000);

afterAll(() => service?.stop());

afterEach(async () => {
  const { sandboxes } = (await must(service, 'ListSandboxes', { page_size: 100 })) as { sandboxes: Listed[] };
  for (const { id } of sandboxes) await must(service, 'DeleteSandbox', { sandbox: id });
});

describe('creation', () => {
  it('[SBX-CREATE-01] [SBX-CREATE-02] [SBX-CREATE-03] [SBX-CREATE-06] [SBX-STATE-02] [WIRE-BOX-01] without parameters: started on the base image, ready at once', async () => {
    const created = await must(service, 'CreateSandbox');
    expect(created).toMatchObject({ state: 'started', status: 'started', image: 'base', language: 'python' });
    expect(created['id']).toMatch(/^sb_[0-9a-z]{16}$/);
    expect(created['snapshot']).toBeNull();
    expect(await code(created, 'print(6 * 7)')).toMatchObject({ stdout: '42\n', exit_code: 0 });
    expect(await command(created, 'echo ready')).toMatchObject({ stdout: 'ready\n', exit_code: 0 });
  });

  it('[SBX-CREATE-12] [SBX-CREATE-13] [SBX-CREATE-14] [SBX-CREATE-15] [SBX-CREATE-16] [SBX-CREATE-19] [WIRE-AUTO-02] [WIRE-AUTO-03] has the defaults of the contract', async () => {
    expect(await must(service, 'CreateSandbox')).toMatchObject({
      resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
      auto_stop_minutes: 15,
      auto_archive_minutes: 10_080,
      auto_delete_minutes: -1,
      ephemeral: false,
      labels: {},
    });
  });

  it('[SBX-CREATE-13] [SBX-CREATE-14] [SBX-CREATE-15] [SBX-RESIZE-09] gives the sizes that were asked for, as limits that hold', async () => {
    const created = await must(service, 'CreateSandbox', { cpu: 1, memory_gb: 1, disk_gb: 1 });
    expect(created['resources']).toEqual({ cpu: 1, memory: 1, disk: 1, gpu: 0 });
    const full = await command(
      created,
      'head -c 1500M /dev/zero > big; ls -s --block-size=M big | cut -dM -f1',
    );
    expect(full['stderr']).toContain('No space left');
    expect(Number(full['stdout'])).toBeLessThan(1024);
    const hog = await command(created, 'python3 -c "x = bytearray(3 << 30); print(len(x))"');
    expect(hog['exit_code']).toBe(137);
    expect(await command(created, 'echo alive')).toMatchObject({ stdout: 'alive\n' });
  }, 60_000);

  it('[SBX-CREATE-08] refuses snapshot together with image', async () => {
    await refused('CreateSandbox', { snapshot: 'base', image: 'debian:13' }, 'invalid_argument', 'snapshot');
  });

  it('[SBX-CREATE-09] [SBX-CREATE-17] [WIRE-BOX-08] [WIRE-BOX-19] from the snapshot base ignores sizes, after checking their range', async () => {
    const created = await must(service, 'CreateSandbox', { snapshot: 'base', cpu: 7 });
    expect(created).toMatchObject({ snapshot: 'base', resources: { cpu: 2 } });
    await refused('CreateSandbox', { snapshot: 'base', cpu: 17 }, 'invalid_argument', 'cpu');
    await refused('CreateSandbox', { snapshot: 'missing' }, 'not_found');
  });

  it('[SBX-CREATE-11] [SBX-GET-02] [SBX-GET-03] [WIRE-BOX-10] [WIRE-BOX-12] env_vars are set inside, redacted outside, and shown when asked for', async () => {
    const env_vars = {
      GREETING: 'hello',
      MY_API_KEY: 'k1',
      monkey: 'm1',
      oauthToken: 't1',
      DB_PASSWORD: 'p1',
    };
    const created = await must(service, 'CreateSandbox', { env_vars });
    expect(created).not.toHaveProperty('env_vars');
    expect(await command(created, 'echo $GREETING $MY_API_KEY')).toMatchObject({ stdout: 'hello k1\n' });
    const seen = await must(service, 'GetSandbox', { sandbox: created['id'] });
    const hidden = '[redacted]';
    expect(seen['env_vars']).toEqual({
      GREETING: 'hello',
      MY_API_KEY: hidden,
      monkey: hidden,
      oauthToken: hidden,
      DB_PASSWORD: hidden,
    });
    const raw = await must(service, 'GetSandbox', { sandbox: created['id'], include_raw_env_vars: true });
    expect(raw['env_vars']).toEqual(env_vars);
  });

  it('[SBX-CREATE-16] [WIRE-BOX-22] a gpu where none is free: resource_exhausted, and nothing is left', async () => {
    await refused('CreateSandbox', { name: 'gpu', gpu: 1 }, 'resource_exhausted');
    expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 0 });
  });

  it('[WIRE-BOX-02] [WIRE-BOX-04] names: generated as two words and a number, unique', async () => {
    const { name } = await must(service, 'CreateSandbox');
    expect(name).toMatch(/^[a-z]+-[a-z]+-\d+$/);
    await refused('CreateSandbox', { name }, 'already_exists');
  });

  it('[SBX-CREATE-05] [SBX-CREATE-07] the language decides the interpreter of RunCode', async () => {
    const typescript = await must(service, 'CreateSandbox', { language: 'typescript' });
    const typed =
      'const n: number = 20; enum E { A = 1 } console.log(n + 1 + E.A, await Promise.resolve("ok"))';
    expect(await code(typescript, typed)).toMatchObject({ stdout: '22 ok\n', exit_code: 0 });
    const javascript = await must(service, 'CreateSandbox', { language: 'javascript' });
    expect(await code(javascript, 'console.log(require("os").platform())')).toMatchObject({
      stdout: 'linux\n',
    });
    await refused('CreateSandbox', { language: 'ruby' }, 'invalid_argument', 'language');
  });

  it('an Idempotency-Key makes a retry safe, and refuses another request', async () => {
    const headers = { 'idempotency-key': 'once-1' };
    const [first, second] = await Promise.all([
      call(service, 'CreateSandbox', { name: 'once' }, headers),
      call(service, 'CreateSandbox', { name: 'once' }, headers),
    ]);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body['id']).toBe(first.body['id']);
    const third = await call(service, 'CreateSandbox', { name: 'once' }, headers);
    expect(third.body['id']).toBe(first.body['id']);
    const other = await call(service, 'CreateSandbox', { name: 'other' }, headers);
    expect(other.body['code']).toBe('invalid_argument');
  });
});

describe('states', () => {
  it('[SBX-STATE-03] [SBX-STATE-04] [SBX-STATE-08] [SBX-STATE-13] [WIRE-STATE-01] [WIRE-STATE-02] stop and start keep the disk; a second of either changes nothing', async () => {
    const { id } = await must(service, 'CreateSandbox');
    await must(service, 'WriteFile', { sandbox: id, path: 'kept.txt', content: 'kept' });
    const stopped = await must(service, 'StopSandbox', { sandbox: id });
    expect(stopped).toMatchObject({ state: 'stopped' });
    expect(await must(service, 'StopSandbox', { sandbox: id })).toEqual({ ...stopped, ...knownLater });
    const started = await must(service, 'StartSandbox', { sandbox: id });
    expect(started).toMatchObject({ state: 'started', stopped_at: null });
    expect(await must(service, 'StartSandbox', { sandbox: id })).toMatchObject({
      updated_at: started['updated_at'],
    });
    expect(await must(service, 'ReadFile', { sandbox: id, path: 'kept.txt' })).toMatchObject({
      content: 'kept',
    });
  });

  it('[SBX-STATE-05] [SBX-STATE-06] [SBX-STATE-09] [WIRE-STATE-03] [WIRE-STATE-04] archive needs a stopped sandbox, and start brings every byte back', async () => {
    const { id } = await must(service, 'CreateSandbox');
    await command(
      { id },
      'head -c 5000000 /dev/urandom > blob; sha256sum blob > sum; ln -s blob link; mkfifo pipe',
    );
    await refused('ArchiveSandbox', { sandbox: id }, 'invalid_state');
    await must(service, 'StopSandbox', { sandbox: id });
    const archived = await must(service, 'ArchiveSandbox', { sandbox: id });
    expect(archived).toMatchObject({ state: 'archived' });
    expect(archived['archived_at']).not.toBeNull();
    await refused('ArchiveSandbox', { sandbox: id }, 'invalid_state');
    await refused('StopSandbox', { sandbox: id }, 'invalid_state');
    await refused('ResizeSandbox', { sandbox: id, cpu: 3 }, 'invalid_state');
    expect(await must(service, 'StartSandbox', { sandbox: id })).toMatchObject({
      state: 'started',
      archived_at: null,
    });
    expect(await command({ id }, 'sha256sum -c sum && readlink link && test -p pipe')).toMatchObject({
      stdout: 'blob: OK\nblob\n',
      exit_code: 0,
    });
  }, 60_000);

  it('[SBX-STATE-11] [SBX-STATE-12] [WIRE-BOX-14] [WIRE-STATE-05] delete works in every state', async () => {
    for (const steps of [[], ['StopSandbox'], ['StopSandbox', 'ArchiveSandbox']]) {
      const { id, name } = await must(service, 'CreateSandbox');
      for (const step of steps) await must(service, step, { sandbox: id });
      await must(service, 'SetSandboxLabels', { sandbox: id, labels: { a: 'b' } });
      await must(service, 'ConfigureSandboxAuto', { sandbox: id, auto_stop_minutes: 1 });
      expect(await must(service, 'DeleteSandbox', { sandbox: id })).toEqual({ id, name, deleted: true });
      await refused('GetSandbox', { sandbox: id }, 'not_found');
    }
  }, 60_000);

  it('[SBX-STATE-10] [WIRE-BOX-15] the stop of an ephemeral sandbox deletes it', async () => {
    const { id } = await must(service, 'CreateSandbox', { ephemeral: true });
    expect(await must(service, 'StopSandbox', { sandbox: id })).toMatchObject({ deleted: true });
    await refused('GetSandbox', { sandbox: id }, 'not_found');
  });

  it('[SBX-AUTO-06] [SBX-AUTO-08] [WIRE-AUTO-04] [WIRE-AUTO-05] auto_delete_minutes 0 deletes at the stop, or at once when stopped already', async () => {
    const first = await must(service, 'CreateSandbox');
    const configured = await must(service, 'ConfigureSandboxAuto', {
      sandbox: first['id'],
      auto_delete_minutes: 0,
    });
    expect(configured).toMatchObject({ auto_delete_minutes: 0, auto_stop_minutes: 15, state: 'started' });
    expect(await must(service, 'StopSandbox', { sandbox: first['id'] })).toMatchObject({ deleted: true });
    const second = await must(service, 'CreateSandbox');
    await must(service, 'StopSandbox', { sandbox: second['id'] });
    const gone = await must(service, 'ConfigureSandboxAuto', {
      sandbox: second['id'],
      auto_delete_minutes: 0,
    });
    expect(gone).toMatchObject({ deleted: true });
    await refused('GetSandbox', { sandbox: second['id'] }, 'not_found');
  });

  it('[WIRE-STATE-07] tools that work inside need a started sandbox, and their error names StartSandbox', async () => {
    const { id } = await must(service, 'CreateSandbox');
    await must(service, 'StopSandbox', { sandbox: id });
    const answer = await refused('RunCommand', { sandbox: id, command: 'true' }, 'invalid_state');
    expect(answer.body['hint']).toContain('StartSandbox');
    await refused('ReadFile', { sandbox: id, path: 'x' }, 'invalid_state');
  });

  it('a stop under a running command gives that command its true end', async () => {
    const { id } = await must(service, 'CreateSandbox');
    const running = call(service, 'RunCommand', { sandbox: id, command: 'sleep 60' });
    await expect.poll(() => command({ id }, 'pgrep -c sleep').then(({ stdout }) => stdout)).toBe('1\n');
    await must(service, 'StopSandbox', { sandbox: id });
    const { body } = await running;
    // Killed with the rest while its agent could still say so, or cut off.
    expect([128 + 9, 128 + 15, 'invalid_state']).toContain(body['exit_code'] ?? body['code']);
  });
});

describe('resizing', () => {
  it('[SBX-RESIZE-03] [SBX-RESIZE-04] [SBX-RESIZE-06] [SBX-RESIZE-07] [WIRE-RESIZE-02] while started: cpu and memory up, nothing else, all or nothing', async () => {
    const { id } = await must(service, 'CreateSandbox', { cpu: 2, memory_gb: 2, disk_gb: 2 });
    expect(await must(service, 'ResizeSandbox', { sandbox: id, cpu: 3, memory_gb: 3 })).toMatchObject({
      resources: { cpu: 3, memory: 3, disk: 2 },
    });
    await refused('ResizeSandbox', { sandbox: id, cpu: 2 }, 'invalid_state', 'cpu');
    await refused('ResizeSandbox', { sandbox: id, memory_gb: 1 }, 'invalid_state', 'memory_gb');
    await refused('ResizeSandbox', { sandbox: id, cpu: 4, disk_gb: 3 }, 'invalid_state', 'disk_gb');
    await refused('ResizeSandbox', { sandbox: id, disk_gb: 1 }, 'invalid_argument', 'disk_gb');
    expect(await must(service, 'GetSandbox', { sandbox: id })).toMatchObject({
      resources: { cpu: 3, memory: 3, disk: 2 },
    });
  });

  it('[SBX-RESIZE-05] [SBX-RESIZE-06] [SBX-RESIZE-07] [SBX-RESIZE-09] while stopped: cpu and memory either way, the disk up, and the new disk holds', async () => {
    const { id } = await must(service, 'CreateSandbox', { cpu: 2, memory_gb: 2, disk_gb: 1 });
    await must(service, 'StopSandbox', { sandbox: id });
    await refused('ResizeSandbox', { sandbox: id, disk_gb: 0 }, 'invalid_argument', 'disk_gb');
    const resized = await must(service, 'ResizeSandbox', { sandbox: id, cpu: 1, memory_gb: 1, disk_gb: 3 });
    expect(resized).toMatchObject({ state: 'stopped', resources: { cpu: 1, memory: 1, disk: 3 } });
    await must(service, 'StartSandbox', { sandbox: id });
    const { stdout } = await command({ id }, 'df -BM --output=size /workspace | tail -1');
    expect(Number.parseInt(String(stdout), 10)).toBeGreaterThan(2_700);
    const used = await command(
      { id },
      'head -c 1100M /dev/zero > big && ls -s --block-size=M big | cut -dM -f1',
    );
    expect(Number(used['stdout'])).toBeGreaterThanOrEqual(1100);
  }, 60_000);

  it('[SBX-RESIZE-01] [SBX-RESIZE-08] [WIRE-RESIZE-01] with nothing to change, or with gpu, is refused', async () => {
    const { id } = await must(service, 'CreateSandbox');
    await refused('ResizeSandbox', { sandbox: id }, 'invalid_argument');
    await refused('ResizeSandbox', { sandbox: id, gpu: 1 }, 'invalid_argument', 'gpu');
  });
});

describe('listing and naming', () => {
  it('[SBX-LIST-01] [SBX-LIST-02] [SBX-LIST-03] [SBX-LIST-04] [SBX-LIST-07] [SBX-LABELS-01] [WIRE-BOX-16] pages, filters, newest first', async () => {
    for (const n of [1, 2, 3])
      await must(service, 'CreateSandbox', { name: `n${n}`, labels: { n: `${n}`, all: 'y' } });
    await must(service, 'StopSandbox', { sandbox: 'n2' });
    const names = async (query: object) =>
      ((await must(service, 'ListSandboxes', { ...query })) as { sandboxes: Listed[] }).sandboxes.map(
        ({ name }) => name,
      );
    expect(await names({})).toEqual(['n3', 'n2', 'n1']);
    expect(await names({ page_size: 2 })).toEqual(['n3', 'n2']);
    expect(await names({ page_size: 2, page: 2 })).toEqual(['n1']);
    expect(await names({ page: 9 })).toEqual([]);
    expect(await names({ state: 'stopped' })).toEqual(['n2']);
    expect(await names({ labels: { n: '3', all: 'y' } })).toEqual(['n3']);
    expect(await names({ labels: { n: '3', all: 'no' } })).toEqual([]);
    expect(await must(service, 'ListSandboxes', { page_size: 2 })).toMatchObject({
      total_count: 3,
      page: 1,
      total_pages: 2,
    });
    await must(service, 'SetSandboxLabels', { sandbox: 'n3', labels: { only: 'this' } });
    expect(await must(service, 'GetSandbox', { sandbox: 'n3' })).toMatchObject({ labels: { only: 'this' } });
  });

  it('[WIRE-BOX-17] one that is being created is not listed, and its name is taken', async () => {
    const create = () => call(service, 'CreateSandbox', { name: 'coming' });
    const names = async () => {
      const { sandboxes } = (await must(service, 'ListSandboxes')) as { sandboxes: Listed[] };
      return sandboxes.map(({ name }) => name);
    };
    const becomes = (operation: string) =>
      service.changeStore(`UPDATE sandboxes SET operation = ${operation} WHERE name = 'coming'`);
    const both = await Promise.all([create(), create()]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await names()).toContain('coming');
    // As its row is while it is made, for as long as the test looks.
    await becomes("'creating'");
    expect(await names()).not.toContain('coming');
    expect(await create()).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    await becomes('NULL');
    await must(service, 'DeleteSandbox', { sandbox: 'coming' });
  });

  it('[SBX-TOOLS-03] [SBX-TOOLS-04] [WIRE-ERR-04, WIRE-ERR-05] by name or ID; when left out, the only one there is', async () => {
    const none = await call(service, 'RunCommand', { command: 'true' });
    expect(none).toMatchObject({ status: 400, body: { code: 'ambiguous_sandbox' } });
    const { id } = await must(service, 'CreateSandbox', { name: 'first one' });
    const stdout = `${hostnameOf(String(id))}\n`;
    expect(await must(service, 'RunCommand', { command: 'hostname' })).toMatchObject({ stdout });
    expect(await must(service, 'RunCommand', { sandbox: 'first one', command: 'hostname' })).toMatchObject({
      stdout,
    });
    await must(service, 'CreateSandbox', { name: 'second' });
    const several = await call(service, 'RunCommand', { command: 'true' });
    expect(several).toMatchObject({ status: 400, body: { code: 'ambiguous_sandbox' } });
    expect(several.body['detail']).toContain("'first one'");
    expect(several.body['detail']).toContain("'second'");
  });
});

type Listed = { id: string; name: string };

function command(sandbox: Record<string, unknown>, text: string): Promise<Record<string, unknown>> {
  return must(service, 'RunCommand', { sandbox: sandbox['id'], command: text });
}

function code(sandbox: Record<string, unknown>, text: string): Promise<Record<string, unknown>> {
  return must(service, 'RunCode', { sandbox: sandbox['id'], code: text });
}

async function refused(
  tool: string,
  parameters: Record<string, unknown>,
  errorCode: string,
  parameter?: string,
): Promise<Answer> {
  const answer = await call(service, tool, parameters);
  expect(answer.body).toMatchObject({ code: errorCode, ...(parameter ? { parameter } : {}) });
  expect(answer.body['detail']).toBeTruthy();
  return answer;
}
