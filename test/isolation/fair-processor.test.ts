/** Ten busy sandboxes of one user beside a single one of another's, on real processors. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProcessorGroups } from '../../src/runtime/oci/fairness/processor-groups.ts';
import { divide } from '../../src/runtime/oci/fairness/processor-shares.ts';
import { controllerHierarchy, parseHierarchies } from '../../src/runtime/oci/host/hierarchies.ts';
import { type Person, person } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

const LOOK_MS = 1_000;
const MEASURED_MS = 4_000;

const BUSY = 10;
const weightFiles = ['cpu.weight', 'cpu.shares'];
const cpu = controllerHierarchy(parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')), 'cpu') ?? {
  mountpoint: '',
  version: 1,
};
let service: Service;
let mallory: Person;
let alice: Person;

beforeAll(async () => {
  service = await startService();
  [mallory, alice] = [await person(service, 'Mallory'), await person(service, 'Alice')];
  await must(alice, 'CreateSandbox', { name: 'single', cpu: 1, memory_gb: 1, disk_gb: 1 });
  for (let n = 0; n < BUSY; n++) {
    await must(mallory, 'CreateSandbox', { name: `busy${n}`, cpu: 2, memory_gb: 1, disk_gb: 1 });
  }
}, 120_000);

afterAll(() => service?.stop());

it('leave it as much as they have together, or all that it can use, and the service goes on answering', async () => {
  const spin = 'for n in 1 2; do nohup sh -c "while :; do :; done" >/dev/null 2>&1 & done';
  const busy: string[] = [];
  for (let n = 0; n < BUSY; n++) {
    busy.push(String((await must(mallory, 'GetSandbox', { sandbox: `busy${n}` }))['id']));
    await must(mallory, 'RunCommand', { sandbox: `busy${n}`, command: spin });
  }
  const single = String((await must(alice, 'GetSandbox', { sandbox: 'single' }))['id']);
  await must(alice, 'RunCommand', { sandbox: single, command: spin });
  // Two looks: one that sees them for the first time, one that sees them work.
  await sleep(4 * LOOK_MS);

  const groups = createProcessorGroups(
    readFileSync(join(service.dataDir, 'instance'), 'utf8').trim(),
    parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')),
  );
  const used = async (ids: string[]) =>
    (await Promise.all(ids.map((id) => groups.usedMs(id)))).reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
  const [hers, theirs] = [await used([single]), await used(busy)];
  const begin = performance.now();
  const waits: number[] = [];
  while (performance.now() < begin + MEASURED_MS) {
    const asked = performance.now();
    await fetch(`${service.url}/readyz`);
    waits.push(performance.now() - asked);
    await sleep(50);
  }
  const elapsedMs = performance.now() - begin;
  const [got, left] = [(await used([single])) - hers, (await used(busy)) - theirs];
  // A twentieth of what they have together is what it would get as one of many.
  const enough = got >= 0.6 * left || got >= 0.8 * elapsedMs;
  expect({ got, left, enough }).toMatchObject({ enough: true });
  expect(waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.95)]).toBeLessThan(500);
}, 120_000);

it('the service comes before its sandboxes, which have the priority of any program', async () => {
  // Every thread: the main one waits for those that collect garbage beside it.
  const threads = readdirSync(`/proc/${service.pid}/task`);
  expect(threads.length).toBeGreaterThan(4);
  expect(new Set(threads.map(nicenessOf))).toEqual(new Set(['-5']));
  const { output } = await must(alice, 'RunCommand', { sandbox: 'single', command: 'nice' });
  expect(output).toBe('0\n');
});

it('the service has a share of its own beside all machines together, unless it was given a group', async () => {
  const own = groupOf('self');
  const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
  expect(groupOf(service.pid)).toBe(own === '/' ? `/sandhaven-${instance}-service` : own);
  const weightOf = (group: string) => {
    const file = weightFiles
      .map((name) => join(cpu.mountpoint, group, name))
      .find((path) => existsSync(path));
    return Number(readFileSync(file ?? '', 'utf8')) / (cpu.version === 2 ? 100 : 1024);
  };
  expect(weightOf(`sandhaven-${instance}`)).toBe(own === '/' ? 4 : 0.75);
  if (own === '/') expect(weightOf(`sandhaven-${instance}-service`)).toBe(8);
  // Programs that it starts weigh what any program weighs.
  const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
    .trim()
    .split(' ');
  expect(children.map((pid) => groupOf(Number(pid)))).toEqual(children.map(() => own));
});

it('a machine that is being made has no processors yet, and so is not weighed by them', async () => {
  const root = mkdtempSync(join(tmpdir(), 'sandhaven-weights-'));
  try {
    const group = join(root, 'sandhaven-test00', 'sb_1');
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, 'cpu.cfs_period_us'), '100000\n');
    writeFileSync(join(group, 'cpu.cfs_quota_us'), '-1\n');
    const groups = createProcessorGroups('test00', [{ mountpoint: root, version: 1, controllers: ['cpu'] }]);
    expect(await groups.processors('sb_1')).toBeNull();
    writeFileSync(join(group, 'cpu.cfs_quota_us'), '150000\n');
    expect(await groups.processors('sb_1')).toBe(1.5);
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('shares are those of the owner, divided among what works', () => {
  const machine = (id: string, owner: string, processors: number, busy: boolean) => ({
    id,
    owner,
    processors,
    busy,
  });
  expect(
    divide([
      machine('a', 'alice', 1, true),
      machine('m1', 'mallory', 2, true),
      machine('m2', 'mallory', 6, true),
      machine('m3', 'mallory', 8, false),
    ]),
  ).toEqual(
    new Map([
      ['a', 16_384],
      ['m1', 4_096],
      ['m2', 12_288],
      ['m3', 8_192],
    ]),
  );
});

/** In the hierarchy that weighs processors. */
function groupOf(pid: number | 'self'): string | undefined {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
  const own = lines.find((line) =>
    cpu.version === 2 ? line.startsWith('0:') : /:(.*,)?cpu(,.*)?:/.test(line),
  );
  return own?.split(':')[2];
}

function nicenessOf(thread: string): string | undefined {
  return readFileSync(`/proc/${service.pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16];
}
