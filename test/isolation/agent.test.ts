/** The agent of a sandbox is out of reach: of root there, and of callers by way of the agent itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

async function run(command: string): Promise<string> {
  const { output } = await must(service, 'RunCommand', { sandbox: 'box', command, timeout_seconds: 30 });
  return String(output).trim();
}

const denied = { status: 403, body: { code: 'permission_denied' } };

describe('root in a sandbox changes of the agent', () => {
  /** A call for each id, with the id's upper half set too, which the kernel does not look at. */
  const program = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
none = (ctypes.c_ulong * 2)(0, 0)
word = ctypes.c_int(0)
mask = ctypes.c_ulong(1)
attributes = (ctypes.c_uint * 14)(56, 5)
calls = {
    'prlimit64 NOFILE': lambda id: (302, id, 7, none, 0),
    'prlimit64 FSIZE': lambda id: (302, id, 1, none, 0),
    'prlimit64 AS': lambda id: (302, id, 9, none, 0),
    'setpriority': lambda id: (141, 0, id, 19),
    'setpriority of the group': lambda id: (141, 1, id, 19),
    'setpriority of the user': lambda id: (141, 2, 0, 19),
    'sched_setaffinity': lambda id: (203, id, 8, ctypes.byref(mask)),
    'sched_setparam': lambda id: (142, id, ctypes.byref(word)),
    'sched_setscheduler': lambda id: (144, id, 5, ctypes.byref(word)),
    'sched_setattr': lambda id: (314, id, attributes, 0),
    'ioprio_set': lambda id: (251, 1, id, 3 << 13),
    'ioprio_set of the user': lambda id: (251, 3, 0, 3 << 13),
}
threads = [int(name) for name in os.listdir('/proc/1/task')]
print('threads', len(threads), 'below 64' if max(threads) < 64 else threads)
for name, call in calls.items():
    for id in threads:
        for spelled in (id, id | 1 << 32):
            number, *arguments = call(ctypes.c_ulong(spelled))
            if libc.syscall(ctypes.c_long(number), *arguments) != -1:
                print('CHANGED', name, hex(spelled))
for number in (302,):
    print('read', libc.syscall(number, 1, 7, 0, none), none[0] > 1000)
print('other', os.getpid() >= 64)
`;

  it('neither limits nor priorities nor processors', async () => {
    const output = await run(`python3 - <<'PROGRAM'\n${program}\nPROGRAM`);
    expect(output.split('\n')).toEqual(['threads 7 below 64', 'read 0 True', 'other True']);
  });

  it('so that it still answers, in files and in commands', async () => {
    await must(service, 'WriteFile', { sandbox: 'box', path: 'a', content: 'alive' });
    expect(await run('cat a')).toBe('alive');
  });
});

describe('the file tools refuse', () => {
  /** The newest of the agent's threads. Which ids they have depends on how many threads runc had before it. */
  let thread: string;

  beforeAll(async () => {
    await run('ln -s /proc/self/environ link; ln -s /proc/1 folder');
    thread = (await run('ls /proc/1/task | sort -n')).split('\n').at(-1) ?? '';
    expect(Number(thread)).toBeGreaterThan(1);
  });

  it.each([
    '/proc/1/environ',
    '/proc/self/environ',
    '/proc/thread-self/maps',
    '/proc/THREAD/status',
    '/proc/1/task/THREAD/maps',
    '/proc/self/root/etc/hostname',
    '/proc/../proc/self/maps',
    'link',
    'folder/maps',
  ])('to read %s', async (named) => {
    const path = named.replace('THREAD', thread);
    expect(await call(service, 'ReadFile', { sandbox: 'box', path })).toMatchObject(denied);
    expect(await call(service, 'SearchContent', { sandbox: 'box', path, query: '.' })).toMatchObject(denied);
    const url = `${service.url}/v1/sandboxes/box/files?path=${encodeURIComponent(path)}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${service.apiKey}` } });
    expect(answer.status).toBe(403);
  });

  it.each(['/proc/1/oom_score_adj', '/proc/self/mem', '/proc/self/fd/3', 'folder/comm'])(
    'to write %s',
    async (path) => {
      const content = '1000';
      expect(await call(service, 'WriteFile', { sandbox: 'box', path, content })).toMatchObject(denied);
      const url = `${service.url}/v1/sandboxes/box/files?path=${encodeURIComponent(path)}`;
      const headers = { authorization: `Bearer ${service.apiKey}` };
      expect((await fetch(url, { method: 'PUT', headers, body: content })).status).toBe(403);
      const edit = { sandbox: 'box', files: [path], pattern: '0', replacement: '9' };
      expect((await must(service, 'ReplaceInFiles', edit))['files_modified']).toBe(0);
      expect(await run('cat /proc/1/oom_score_adj')).toBe('0');
    },
  );

  it('to list, to walk and to move its folder', async () => {
    expect(await call(service, 'ListFiles', { sandbox: 'box', path: '/proc/1' })).toMatchObject(denied);
    const find = { sandbox: 'box', path: '/proc/self', pattern: '*' };
    expect(await call(service, 'FindFiles', find)).toMatchObject(denied);
    const move = { sandbox: 'box', source: '/proc/1', destination: '/workspace/copy' };
    expect(await call(service, 'MoveFile', move)).toMatchObject(denied);
    const { files } = await must(service, 'SearchContent', {
      sandbox: 'box',
      path: '/proc',
      query: 'sandbox-id',
      file_pattern: 'cmdline',
    });
    expect(files).toEqual([]);
  });

  it('nothing that is the same for every process there', async () => {
    const read = async (path: string) =>
      (await must(service, 'ReadFile', { sandbox: 'box', path }))['content'];
    expect(await read('/proc/mounts')).toContain(' /proc proc ');
    expect(await read('/proc/net/dev')).toContain('lo:');
    expect(await read('/proc/meminfo')).toContain('MemTotal');
  });
});
