/** The agent of a sandbox is out of reach: of root there, and of callers by way of the agent itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { act, mustAct } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { agentLimits } from './probes.ts';

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
  it('neither limits nor priorities nor processors', async () => {
    expect((await run(agentLimits.command)).split('\n')).toEqual(agentLimits.says);
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
    // To describe a link is to look at it alone.
    const described = path === 'link' ? 'folder/environ' : path;
    const details = { sandbox: 'box', path: described, depth: 0 };
    expect(await act(service, 'GetFileDetails', details)).toMatchObject(denied);
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
      for (const change of [{ mode: '666' }, { owner: '1000' }, { metadata: { note: 'mine' } }]) {
        const set = await act(service, 'SetFileAttributes', { sandbox: 'box', path, ...change });
        expect(set).toMatchObject(denied);
      }
      expect(await run('cat /proc/1/oom_score_adj')).toBe('0');
    },
  );

  it('to list, to walk and to move its folder', async () => {
    expect(await call(service, 'ListFiles', { sandbox: 'box', path: '/proc/1' })).toMatchObject(denied);
    const find = { sandbox: 'box', path: '/proc/self', pattern: '*' };
    expect(await call(service, 'FindFiles', find)).toMatchObject(denied);
    const move = { sandbox: 'box', source: '/proc/1', destination: '/workspace/copy' };
    expect(await call(service, 'MoveFile', move)).toMatchObject(denied);
    for (const path of ['/proc/1', '/proc/self/fd', 'folder']) {
      const details = { sandbox: 'box', path, depth: 1 };
      expect(await act(service, 'GetFileDetails', details)).toMatchObject(denied);
    }
    const walk = { sandbox: 'box', path: '/proc', depth: 2, max_items: 10_000 };
    const { entries } = await mustAct(service, 'GetFileDetails', walk);
    const paths = (entries as { path: string }[]).map(({ path }) => path);
    expect(paths).toContain('meminfo');
    expect(paths.filter((path) => /^(1|self|thread-self)\//.test(path))).toEqual([]);
    const { files } = await must(service, 'SearchContent', {
      sandbox: 'box',
      path: '/proc',
      query: 'sandbox-id',
      file_pattern: 'cmdline',
    });
    expect(files).toEqual([]);
  });

  it('to watch it, also by a link', async () => {
    await run('ln -s /proc/self/fd descriptors');
    for (const path of ['/proc/1', '/proc/self/fd', '/proc/1/task', 'folder', 'descriptors']) {
      for (const recursive of [true, false]) {
        const query = new URLSearchParams({ path, recursive: String(recursive) });
        const answer = await fetch(`${service.url}/v1/sandboxes/box/files/watch?${query}`, {
          headers: { authorization: `Bearer ${service.apiKey}` },
        });
        expect({ status: answer.status, body: await answer.json() }, path).toMatchObject(denied);
      }
    }
  });

  it('nothing that is the same for every process there', async () => {
    const read = async (path: string) =>
      (await must(service, 'ReadFile', { sandbox: 'box', path }))['content'];
    expect(await read('/proc/mounts')).toContain(' /proc proc ');
    expect(await read('/proc/net/dev')).toContain('lo:');
    expect(await read('/proc/meminfo')).toContain('MemTotal');
  });
});

describe('whoever runs a program, and however, it is behind the same walls', () => {
  const WALLS = `
    grep -E '^(NoNewPrivs|Seccomp|Seccomp_filters|CapBnd|CapAmb|Cpus_allowed):' /proc/self/status
    for kind in cgroup ipc mnt net pid uts user; do readlink /proc/$$/ns/$kind; done
    cat /proc/$$/cgroup /proc/$$/oom_score_adj
    cd /proc/$$/fd; echo *`;
  let usual: string;

  beforeAll(async () => {
    usual = await run(WALLS);
    expect(usual).toMatch(/Seccomp:\s+2\n/);
  });

  const ofProcess = async (more: object): Promise<string> => {
    const { process } = await mustAct(service, 'StartProcess', { sandbox: 'box', command: WALLS, ...more });
    const url = `${service.url}/v1/sandboxes/box/processes/${process}/output`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${service.apiKey}` } });
    const pieces = (await answer.text()).matchAll(/"base64":"([^"]*)"/g);
    return [...pieces]
      .map(([, base64 = '']) => Buffer.from(base64, 'base64').toString())
      .join('')
      .trim();
  };

  it('a process that outlives its caller', async () => {
    expect(await ofProcess({})).toBe(usual);
  });

  it('a user, in a command and in a process', async () => {
    const ofUser = await must(service, 'RunCommand', { sandbox: 'box', command: WALLS, user: 'mallory' });
    expect(String(ofUser['output']).trim()).toBe(usual);
    expect(await ofProcess({ user: 'mallory' })).toBe(usual);
  });

  it('a user without rights of root, and with those of root in the sandbox once sudo gives them', async () => {
    const rights = "grep -E '^Cap(Prm|Eff):' /proc/self/status";
    const ofRoot = await run(rights);
    const as = async (command: string) =>
      String(
        (await must(service, 'RunCommand', { sandbox: 'box', command, user: 'mallory' }))['output'],
      ).trim();
    expect(await as(rights)).toBe('CapPrm:\t0000000000000000\nCapEff:\t0000000000000000');
    expect(await as(`sudo -n ${rights}`)).toBe(ofRoot);
    expect(await as('kill -KILL 1; cat /proc/1/environ; echo 9 > /proc/1/oom_score_adj')).toMatch(
      /^(.*(not permitted|Permission denied).*\n?){3}$/,
    );
  });

  it('signals and input go to processes of the sandbox alone', async () => {
    for (const process of ['1', '0', '-1', '4294967297']) {
      const place = { sandbox: 'box', process };
      const unknown = { status: expect.toBeOneOf([400, 404]) };
      expect(await act(service, 'SignalProcess', { ...place, signal: 'KILL' })).toMatchObject(unknown);
      expect(await act(service, 'SendProcessInput', { ...place, text: 'x' })).toMatchObject(unknown);
      expect(await act(service, 'EndProcess', place)).toMatchObject(unknown);
    }
    expect(await run('echo alive')).toBe('alive');
  });
});
