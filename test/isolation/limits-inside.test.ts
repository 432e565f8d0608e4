/** What programs inside see of memory and processors: the sandbox's own, and not the host's. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'small', cpu: 1, memory_gb: 1, disk_gb: 1 });
  await must(service, 'CreateSandbox', { name: 'grown', cpu: 1, memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

async function run(sandbox: string, command: string): Promise<string> {
  const { output } = await must(service, 'RunCommand', { sandbox, command, timeout_seconds: 30 });
  return String(output).trim();
}

it('the id of its start is of this start alone', async () => {
  const path = '/proc/sys/kernel/random/boot_id';
  const id = () => run('small', `cat ${path}`);
  const first = await id();
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(await id()).toBe(first);
  await must(service, 'StopSandbox', { sandbox: 'small' });
  await must(service, 'StartSandbox', { sandbox: 'small' });
  const others = [await id(), await run('grown', `cat ${path}`), readFileSync(path, 'utf8').trim()];
  expect(new Set([first, ...others]).size).toBe(4);
});

const memory = async (sandbox: string, name: string): Promise<number> =>
  Number(await run(sandbox, `awk '$1 == "${name}:" {print $2}' /proc/meminfo`));

/** Each is another way by which programs count. */
const PROCESSORS = [
  'nproc',
  'getconf _NPROCESSORS_ONLN',
  "grep -c '^processor' /proc/cpuinfo",
  "grep -c '^cpu[0-9]' /proc/stat",
  "python3 -c 'import os; print(os.cpu_count())'",
  `python3 -c 'import os; print(getattr(os, "process_cpu_count", os.cpu_count)())'`,
  "node -p 'os.cpus().length'",
];

describe('a sandbox of 1 processor and 1 GiB', () => {
  it.each(PROCESSORS)('counts 1 by %s', async (command) => {
    expect(await run('small', command)).toBe('1');
  });

  it('has 1 GiB of memory, and most of it free', async () => {
    expect(await memory('small', 'MemTotal')).toBe(1_048_576);
    expect(await memory('small', 'MemAvailable')).toBeGreaterThan(700_000);
    expect(await run('small', "free -m | awk '/^Mem:/ {print $2}'")).toBe('1024');
    expect(await run('small', "free -m | awk '/^Swap:/ {print $2}'")).toBe('0');
  });

  it('shows a command what programs have taken until then', async () => {
    const before = await memory('small', 'MemAvailable');
    const taker = "b = bytearray(300 << 20); print('taken', flush=True); import time; time.sleep(60)";
    await run(
      'small',
      `python3 -c "${taker}" > /tmp/taker 2>&1 & echo $! > /tmp/taker.pid; until grep -q taken /tmp/taker; do sleep 0.05; done`,
    );
    const taken = before - (await memory('small', 'MemAvailable'));
    expect(taken).toBeGreaterThan(300 * 1024 * 0.95);
    expect(taken).toBeLessThan(300 * 1024 * 1.3);
    await run(
      'small',
      'pid=$(cat /tmp/taker.pid); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.05; done; sleep 0.2',
    );
  });

  it('shows a program that goes on what others have taken, without another request', async () => {
    const program = `
import time
available = lambda: next(int(l.split()[1]) for l in open('/proc/meminfo') if l.startswith('MemAvailable'))
before = available()
taken = bytearray(300 << 20)
end = time.time() + 20
while before - available() < 290 << 10 and time.time() < end: time.sleep(0.1)
print(before - available() >= 290 << 10)`;
    expect(await run('small', `python3 - <<'PROGRAM'\n${program}\nPROGRAM`)).toBe('True');
  });

  it('shows the time that it has used, and when the host was booted', async () => {
    const time = "awk '/^cpu / {print $2 + $4}' /proc/stat";
    const before = Number(await run('small', time));
    const busy = 'import time; end = time.process_time() + 1\nwhile time.process_time() < end: pass';
    await run('small', `python3 -c "${busy}"; sleep 0.2`);
    const ticks = Number(await run('small', time)) - before;
    expect(ticks).toBeGreaterThan(80);
    expect(ticks).toBeLessThan(300);
    const started = Number(await run('small', `date -d "$(ps -o lstart= -p $$)" +%s`));
    expect(Math.abs(started - Date.now() / 1000)).toBeLessThan(10);
  });

  it('reads its cgroup, and writes nothing there', async () => {
    const limit = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null';
    expect(await run('small', limit)).toBe('1073741824');
    const files = `for file in $(find /sys/fs/cgroup -type f); do (echo 1 > $file) 2>/dev/null && echo $file; done`;
    expect(await run('small', files)).toBe('');
    const groups = `for file in $(find /sys/fs/cgroup -name cgroup.procs); do mkdir \${file%/*}/x 2>/dev/null && echo $file; done`;
    expect(await run('small', groups)).toBe('');
    expect(await run('small', 'ls /sys/fs')).toBe('cgroup');
  });
});

describe('a sandbox that is resized while it runs', () => {
  it('shows its new limits to the next command, and to programs that read files', async () => {
    const reader = 'until grep -q 2097152 /proc/meminfo; do sleep 0.2; done; grep -c processor /proc/cpuinfo';
    await run('grown', `(${reader}) > /tmp/seen 2>&1 &`);
    await must(service, 'ResizeSandbox', { sandbox: 'grown', cpu: 3, memory_gb: 2 });
    for (const command of PROCESSORS) expect(await run('grown', command), command).toBe('3');
    expect(await memory('grown', 'MemTotal')).toBe(2_097_152);
    expect(await run('grown', 'until grep -q . /tmp/seen; do sleep 0.1; done; cat /tmp/seen')).toBe('3');
  });
});

describe('a caller’s own variables', () => {
  it('come before those that count processors', async () => {
    const call = { sandbox: 'small', command: 'nproc', env: { OMP_NUM_THREADS: '7' } };
    expect((await must(service, 'RunCommand', call))['output']).toBe('7\n');
  });
});
