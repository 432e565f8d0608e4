/** What one sandbox must not learn of another, or do to it, through what the host gives both. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';
import { hiddenCounts, pageCache } from './probes.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'one', cpu: 1, memory_gb: 1, disk_gb: 1 });
  await must(service, 'CreateSandbox', { name: 'other', cpu: 1, memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

async function run(sandbox: string, command: string): Promise<string> {
  const { output } = await must(service, 'RunCommand', { sandbox, command, timeout_seconds: 30 });
  return String(output).trim();
}

const NODES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

describe('a standard device', () => {
  it('is a node of the sandbox’s own', async () => {
    const nodes = NODES.map((name) => `/dev/${name}`).join(' ');
    expect((await run('one', `stat -c '%n %t,%T %a %U' ${nodes}`)).split('\n')).toEqual([
      '/dev/null 1,3 666 root',
      '/dev/zero 1,5 666 root',
      '/dev/full 1,7 666 root',
      '/dev/random 1,8 666 root',
      '/dev/urandom 1,9 666 root',
      '/dev/tty 5,0 666 root',
    ]);
    expect(
      await run(
        'one',
        'echo x > /dev/null && head -c 2 /dev/zero | xxd -p && head -c 8 /dev/urandom | wc -c',
      ),
    ).toBe('0000\n8');
  });

  it.each(NODES.slice(0, 5))('%s carries no lock to another sandbox', async (name) => {
    const lock = `flock /dev/${name} sh -c 'touch locked-${name}; sleep 20' >/dev/null 2>&1 &`;
    await run('one', `${lock} until [ -e locked-${name} ]; do sleep 0.05; done`);
    expect(await run('one', `flock -n /dev/${name} echo free || echo taken`)).toBe('taken');
    expect(await run('other', `flock -n /dev/${name} echo free || echo taken`)).toBe('free');
  });

  it('shows a watcher nothing when another sandbox opens its own', async () => {
    const watch = `
import ctypes, os, select, time
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(0)
assert libc.inotify_add_watch(fd, b'/dev/full', 0x20) > 0
print('watching', flush=True)
over = False
while not over and not select.select([fd], [], [], 0)[0]:
    over = os.path.exists('/tmp/over')
    time.sleep(0.02)
print('seen' if select.select([fd], [], [], 0)[0] else 'nothing', flush=True)`;
    await must(service, 'WriteFile', { sandbox: 'one', path: '/tmp/watch.py', content: watch });
    const watching = (log: string) =>
      `python3 /tmp/watch.py > /tmp/${log} 2>&1 & until grep -q watching /tmp/${log}; do sleep 0.05; done`;
    const verdict = (log: string) =>
      `until grep -q -x -e seen -e nothing /tmp/${log}; do sleep 0.05; done; tail -1 /tmp/${log}`;
    await run('one', watching('own'));
    await run('one', ': < /dev/full');
    expect(await run('one', verdict('own'))).toBe('seen');
    await run('one', watching('others'));
    await run('other', ': < /dev/full');
    await run('one', 'touch /tmp/over');
    expect(await run('one', verdict('others'))).toBe('nothing');
  });
});

describe('the reads of another sandbox', () => {
  it('are not visible in the page cache', async () => {
    expect((await run('one', pageCache.command)).split('\n')).toEqual(pageCache.says);
  });

  it('are not in files and folders that count for all', async () => {
    expect((await run('one', hiddenCounts.command)).split('\n')).toEqual(hiddenCounts.says);
  });
});

it('common programs work all the same', async () => {
  const work = [
    'free -m | grep -c Mem',
    'top -bn1 | grep -c Cpu',
    'ps -o comm= -p 1 | wc -l',
    'uptime | grep -c load',
    'vmstat | grep -c procs',
    'df -h / | grep -c /',
    "node -p \"require('os').cpus().length > 0 && require('os').totalmem() > 0\"",
    'python3 -c "import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); print(os.nice(1))"',
    'prlimit --pid $$ --nofile=512:1024 && ulimit -n',
    'taskset -p $$ | grep -c mask',
    'renice -n 3 $$ | grep -c "new priority 3"',
  ];
  expect((await run('one', work.join('; '))).split('\n')).toEqual('1 1 1 1 1 1 true 1 512 1 1'.split(' '));
}, 60_000);
