import { statfs } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryForMachines } from '../../src/runtime/oci/host/room.ts';
import { measured } from '../support/cluster-engine/differences.ts';
import { call, must, type Service, startService } from '../support/service.ts';

let service: Service;
let id: string;

beforeAll(async () => {
  service = await startService();
  const created = await must(service, 'CreateSandbox', {
    name: 'named by me',
    labels: { team: 'a', 'with space': 'ü' },
    cpu: 3,
    memory_gb: 2,
    disk_gb: 5,
  });
  id = String(created['id']);
}, 120_000);

afterAll(() => service?.stop());

const run = async (command: string, more: object = {}) =>
  String((await must(service, 'RunCommand', { command, ...more }))['stdout']);

describe('identity and regions', () => {
  it('[SBX-REGION-01] [SBX-IDENT-01] need no parameter and return the region and the user', async () => {
    expect(await must(service, 'ListRegions')).toEqual({
      regions: [{ id: 'local', name: 'Local', location: { country: '', city: '' } }],
    });
    expect(await must(service, 'WhoAmI')).toEqual({
      user_id: expect.stringMatching(/^user_/),
      name: 'admin',
      email: 'admin@localhost',
    });
    expect((await call(service, 'WhoAmI', { who: 'me' })).body).toMatchObject({
      code: 'invalid_argument',
      parameter: 'who',
    });
  });
});

describe('a sandbox as it is shown', () => {
  it('[SBX-CREATE-04] [SBX-CREATE-18] [SBX-GET-01] [WIRE-BOX-09] [WIRE-BOX-24] has all that it was given', async () => {
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await must(service, 'GetSandbox', { sandbox: id })).toEqual({
      id,
      name: 'named by me',
      state: 'started',
      status: 'started',
      language: 'python',
      snapshot: null,
      image: 'base',
      resources: { cpu: 3, memory: 2, disk: 5, gpu: 0 },
      labels: { team: 'a', 'with space': 'ü' },
      usage: { memory_bytes: measured, disk_bytes: measured },
      env_vars: {},
      network: { mode: 'open', profiles: [], allow: [] },
      secrets: [],
      auto_stop_minutes: 15,
      auto_archive_minutes: 10_080,
      auto_delete_minutes: -1,
      ephemeral: false,
      region_id: 'local',
      created_at: time,
      updated_at: time,
      last_activity_at: time,
      started_at: time,
      stopped_at: null,
      archived_at: null,
    });
  });

  it('[WIRE-BOX-23] [SBX-STATE-01] is listed with its page, in one of the four states', async () => {
    const listed = await must(service, 'ListSandboxes');
    expect(listed).toMatchObject({
      total_count: 1,
      page: 1,
      page_size: 20,
      total_pages: 1,
      sandboxes: [{ id }],
    });
    expect((await call(service, 'ListSandboxes', { state: 'paused' })).body['detail']).toContain(
      'started, stopped, archived, error',
    );
  });

  it('[SBX-LABELS-02] SetSandboxLabels needs labels and returns the sandbox', async () => {
    expect((await call(service, 'SetSandboxLabels', { sandbox: id })).body).toMatchObject({
      parameter: 'labels',
    });
    expect(await must(service, 'SetSandboxLabels', { sandbox: id, labels: { b: '1' } })).toMatchObject({
      id,
      labels: { b: '1' },
    });
  });

  it('[WIRE-HTTP-05] a parameter of type json is an object, not text', async () => {
    const text = await call(service, 'SetSandboxLabels', { sandbox: id, labels: '{"a":"b"}' });
    expect(text.body).toMatchObject({ code: 'invalid_argument', parameter: 'labels' });
  });
});

describe('limits of the machine', () => {
  it('[WIRE-BOX-09] [WIRE-BOX-25] are GiB, per sandbox, and may come to more than the host has', async () => {
    // A disk may be four times what is free, of which other tests take some meanwhile.
    const { bavail, bsize } = await statfs(tmpdir());
    const diskGb = Math.min(200, Math.ceil((2 * bavail * bsize) / 2 ** 30));
    const { resources } = (await must(service, 'CreateSandbox', {
      name: 'large',
      memory_gb: 64,
      cpu: 16,
      disk_gb: diskGb,
    })) as {
      resources: object;
    };
    expect(resources).toEqual({ cpu: 16, memory: 64, disk: diskGb, gpu: 0 });
    const size = Number(await run('df -B1 --output=size / | tail -1', { sandbox: 'large' }));
    expect(size / 2 ** 30).toBeGreaterThan(0.97 * diskGb);
    await must(service, 'DeleteSandbox', { sandbox: 'large' });
  });

  it('[WIRE-BOX-21] all sandboxes together stay below the memory of the host less a reserve', () => {
    expect(memoryForMachines(totalmem())).toBeLessThan(totalmem());
    expect(memoryForMachines(totalmem())).toBeGreaterThan(totalmem() / 2);
  });
});

describe('the sandbox root', () => {
  it('[WIRE-ROOT-01] [WIRE-ROOT-02] [SBX-EXEC-01] [SBX-EXEC-02] [SBX-EXEC-03] relative paths start from /workspace, absolute ones are the sandbox’s own', async () => {
    expect(await run('pwd')).toBe('/workspace\n');
    await run('mkdir -p sub');
    expect(await run('pwd', { cwd: 'sub' })).toBe('/workspace/sub\n');
    expect(await run('pwd', { cwd: '/etc' })).toBe('/etc\n');
    expect(await run('echo $ONCE', { env: { ONCE: 'here' } })).toBe('here\n');
    expect(await run('echo $ONCE')).toBe('\n');
    await must(service, 'WriteFile', { path: '/tmp/absolute', content: 'a' });
    expect(await run('cat /tmp/absolute')).toBe('a');
    expect((await call(service, 'RunCommand', { command: 'true', cwd: 'none' })).body).toMatchObject({
      code: 'not_found',
    });
    expect((await call(service, 'ReadFile', { path: join(service.dataDir, 'api-key') })).body['code']).toBe(
      'not_found',
    );
  });

  it('[SBX-FILES-01] [SBX-FILES-03] [SBX-FILES-08] [SBX-FILES-09] [SBX-FILES-25] is where files are listed and found, in the only sandbox, by default', async () => {
    await run('rm -rf * && mkdir dir && printf 123 > dir/file && touch top');
    expect(await must(service, 'ListFiles')).toEqual({
      path: '.',
      files: [
        { name: 'dir', type: 'dir', size: expect.any(Number), link: false },
        { name: 'top', type: 'file', size: 0, link: false },
      ],
      total_count: 2,
      has_more: false,
      offset: 0,
    });
    expect(await must(service, 'FindFiles', { pattern: '*', max_items: 2 })).toEqual({
      paths: ['dir', 'dir/file'],
      total_count: 3,
      has_more: true,
      offset: 0,
    });
  });

  it('[SBX-FILES-11] [SBX-FILES-16] [SBX-FILES-26] a file is described whole, also when lines of it are read', async () => {
    await must(service, 'WriteFile', { path: 'lines', content: 'a\nb\nc\n' });
    expect(await must(service, 'GetFileInfo', { path: 'lines' })).toMatchObject({
      type: 'file',
      size: 6,
      permissions: 'rw-r--r--',
      mode: '0644',
      modified_time: expect.stringMatching(/Z$/),
    });
    expect(await must(service, 'ReadFile', { path: 'lines', start_line: 2, end_line: 2 })).toMatchObject({
      content: 'b\n',
      size: 6,
      total_lines: 3,
      start_line: 2,
      end_line: 2,
    });
  });

  it('[SBX-FILES-17] [SBX-FILES-22] [SBX-FILES-23] files are made, moved and deleted, each confirmed', async () => {
    expect(await must(service, 'WriteFile', { path: 'one', content: '1' })).toEqual({
      path: 'one',
      bytes_written: 1,
      created: true,
    });
    expect(await must(service, 'MoveFile', { source: 'one', destination: 'two' })).toEqual({
      source: 'one',
      destination: 'two',
    });
    expect(await must(service, 'DeleteFile', { path: 'two' })).toEqual({ path: 'two', deleted: true });
    await must(service, 'CreateFolder', { path: 'empty' });
    expect(await must(service, 'DeleteFile', { path: 'empty' })).toEqual({ path: 'empty', deleted: true });
    for (const tool of ['WriteFile', 'MoveFile', 'DeleteFile', 'ReadFile', 'GetFileInfo']) {
      expect((await call(service, tool, {})).body, tool).toMatchObject({ code: 'invalid_argument' });
    }
  });
});
