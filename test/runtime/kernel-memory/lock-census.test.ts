import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { uidBaseOf } from '../../../src/runtime/oci/host/plan.ts';
import { createLockCensus, locksOf } from '../../../src/runtime/oci/kernel-memory/locks.ts';
import { launcherPath } from '../host.ts';

/** Above the slots of services and of other tests. */
const FIRST = 32_000;
const slots = new Map([
  ['hider', FIRST],
  ['neighbour', FIRST + 1],
]);
const running: ChildProcessWithoutNullStreams[] = [];

/** Takes locks of open files. */
const prelude = `
import fcntl, mmap, os, socket, struct, sys, threading, time
def lock(file, count):
    for i in range(count):
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 2 * i, 1, 0))
    return file
def memory(count):
    file = os.memfd_create("memory")
    os.truncate(file, 4096)
    return lock(file, count)
`;

const mapped = `
file = memory(300)
held = mmap.mmap(file, 4096)
os.close(file)
# Python keeps a descriptor of its own.
os.close(file + 1)
`;

const unreceived = `
here, there = socket.socketpair()
file = memory(200)
socket.send_fds(here, [b"x"], [file])
os.close(file)
`;

const awaited = `
end, other = os.pipe()
lock(end, 100)
threading.Thread(target=os.read, args=(end, 1), daemon=True).start()
time.sleep(0.5)
os.close(end)
`;

/** All such descriptors of the host have one inode, on which read locks of several users stand side by side. */
const alike = 'held = lock(os.eventfd(0), 50)\n';

afterEach(() => {
  for (const { pid } of running.splice(0)) if (pid) process.kill(-pid, 'SIGKILL');
});

it.each([
  ['a mapping', mapped, 300, 0],
  ['a message that nobody has received', unreceived, 200, 0],
  ['a call that waits', awaited, 100, 0],
  ['a descriptor', alike, 50, 50],
])(
  'a census counts the locks of an open file that has nothing but %s, and none of them for a neighbour',
  async (_, program, locks, listed) => {
    const pid = await begin(uidBaseOf(FIRST) + 1_000, program);
    expect(await locksOf([pid])).toBe(listed);
    await begin(uidBaseOf(FIRST + 1), alike);
    await begin(uidBaseOf(FIRST + 1) + 65_535, alike);
    await begin(0, alike);
    expect(await census(['hider', 'neighbour', 'stopped'])).toEqual(
      new Map([
        ['hider', locks],
        ['neighbour', 100],
      ]),
    );
  },
);

it('a census counts what is held while others take and give up locks', async () => {
  await begin(uidBaseOf(FIRST), `for _ in range(30): memory(1_000)\n`);
  const churn = `
file = memory(0)
if os.fork() == 0:
    while True:
        lock(file, 50)
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0))
`;
  for (let i = 0; i < 2; i++) await begin(uidBaseOf(FIRST + 1), churn);
  for (let i = 0; i < 5; i++) {
    const counts = await census(['hider', 'neighbour']);
    expect(counts?.get('hider')).toBe(30_000);
    expect(counts?.get('neighbour')).toBeLessThanOrEqual(150);
  }
});

it('a slot that changes hands meanwhile is counted for nobody', async () => {
  await begin(uidBaseOf(FIRST), alike);
  let asked = 0;
  const moving = createLockCensus({
    launcherPath,
    slots: { get: async () => ({ index: FIRST - asked++ }) as Slot },
    log: console,
  });
  expect(await moving(['hider'])).toEqual(new Map());
});

it('without a census, one warning is logged', async () => {
  const warnings: string[] = [];
  const failing = createLockCensus({
    launcherPath: '/bin/false',
    slots: { get },
    log: { ...console, warn: (message: string) => warnings.push(message) },
  });
  expect(await failing(['hider'])).toBeNull();
  expect(await failing(['hider'])).toBeNull();
  expect(warnings).toEqual(['file locks are counted through descriptors alone']);
});

async function get(id: string): Promise<Slot | null> {
  const index = slots.get(id);
  return index === undefined ? null : ({ index } as Slot);
}

function census(ids: string[]): Promise<Map<string, number> | null> {
  return createLockCensus({ launcherPath, slots: { get }, log: console })(ids);
}

/** Runs a program as a user of the host, until it has its locks. */
async function begin(uid: number, program: string): Promise<number> {
  const asUser = `os.setgroups([]); os.setresuid(${uid}, ${uid}, ${uid})\n`;
  const source = `${prelude}${asUser}${program}print("ready", flush=True)\nsys.stdin.read()\nos._exit(0)`;
  const python = spawn('python3', ['-c', source], { stdio: 'pipe', detached: true });
  running.push(python);
  python.stderr.pipe(process.stderr);
  await once(createInterface(python.stdout), 'line');
  return python.pid ?? 0;
}
