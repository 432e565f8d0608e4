/** The agent of a sandbox is out of reach: of root there, and of callers by way of the agent itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
