/** Ten busy sandboxes of one user beside a single one of another's, on real processors. */
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { divide } from '../../src/runtime/oci/fairness/processor-shares.ts';
import { type Person, person } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

const BUSY = 10;
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

/** The part of one processor that a loop gets for some seconds. */
async function processorOf(who: Person, sandbox: string, seconds: number): Promise<number> {
  const program = `import time
begin, used = time.time(), time.process_time()
while time.time() < begin + ${seconds}: pass
print((time.process_time() - used) / (time.time() - begin))`;
  const { output } = await must(who, 'RunCommand', { sandbox, command: `python3 -c '${program}'` });
  return Number(output);
}

it('leave it most of its own, and the service goes on answering', async () => {
  const alone = await processorOf(alice, 'single', 3);
  const spin = 'for n in 1 2; do nohup sh -c "while :; do :; done" >/dev/null 2>&1 & done';
  for (let n = 0; n < BUSY; n++) await must(mallory, 'RunCommand', { sandbox: `busy${n}`, command: spin });
  // Two looks: one that sees them for the first time, one that sees them work.
  await new Promise((resolve) => setTimeout(resolve, 4 * limits.processor.lookIntervalMs));
  const waits: number[] = [];
  const asking = setInterval(async () => {
    const begin = performance.now();
    await fetch(`${service.url}/readyz`);
    waits.push(performance.now() - begin);
  }, 100);
  const beside = await processorOf(alice, 'single', 6);
  clearInterval(asking);
  // Half of the host is hers, and one processor is her sandbox's bound.
  const due = Math.min(1, availableParallelism() / 2);
  expect({ alone, beside: beside >= 0.6 * due * alone ? 'enough' : beside }).toMatchObject({
    beside: 'enough',
  });
  expect(waits.length).toBeGreaterThan(20);
  expect(waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.95)]).toBeLessThan(150);
}, 120_000);

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
