/** `/readyz`: what counts as a sign that machines can be made, and when one is made on trial. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../src/concurrency/unfinished.ts';
import { Readiness } from '../../src/control/lifecycle/readiness.ts';
import type { Image, Runtime } from '../../src/control/ports/index.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { createAlone } from '../../src/store/rows/alone.ts';

const FRESH_MS = 60_000;
const FAILURE_KEPT_MS = 5_000;

let now: number;
let started: string[];
let destroyed: string[];
let broken: Error | null;
let readiness: Readiness;
let runtime: Runtime;

beforeEach(() => {
  now = 1_000_000;
  started = [];
  destroyed = [];
  broken = null;
  const engine = {
    async start({ id }: { id: string }) {
      started.push(id);
      await nextTurn();
      if (broken) throw broken;
    },
    async destroy(id: string) {
      destroyed.push(id);
    },
  } as unknown as Runtime;
  readiness = new Readiness({
    replicas: createAlone(),
    runtime: engine,
    images: { use: (_, work) => work({ digest: 'd' } as Image) },
    agent: { hello: async () => ({}) as never },
    unfinished: new Unfinished(() => {}),
    clock: { now: () => now },
    log: { info() {}, warn() {}, error() {} },
  });
  runtime = readiness.watch(engine);
});

const someStart = () => runtime.start({ id: 'sb_user' } as never, 1);

describe('a ready service', () => {
  it('needs no trial while a machine was made within the last minute', async () => {
    await someStart();
    now += FRESH_MS - 1;
    expect(await readiness.check()).toBe(true);
    expect(started).toEqual(['sb_user']);
  });

  it('makes one trial after that for all who ask, which leaves nothing and counts for a minute', async () => {
    expect(await Promise.all([readiness.check(), readiness.check(), readiness.check()])).toEqual([
      true,
      true,
      true,
    ]);
    expect(started.length).toBe(1);
    expect(destroyed).toEqual(started);
    now += FRESH_MS - 1;
    await readiness.check();
    expect(started.length).toBe(1);
    now += 1;
    await readiness.check();
    expect(started.length).toBe(2);
  });

  it('stays ready when its host is full, since it serves the sandboxes that fill it', async () => {
    broken = new SandhavenError('resource_exhausted', 'No slot is left.');
    expect(await readiness.check()).toBe(true);
  });
});

describe('an unready service', () => {
  it('names the reason while no machine can be made, and keeps a failure for 5 s before the next trial', async () => {
    broken = new SandhavenError('unavailable', 'The machine could not be started.');
    const refusal = {
      code: 'unavailable',
      message: 'No sandbox can be made: The machine could not be started.',
    };
    await expect(readiness.check()).rejects.toMatchObject(refusal);
    expect(destroyed).toEqual(started);
    broken = null;
    now += FAILURE_KEPT_MS - 1;
    await expect(readiness.check()).rejects.toMatchObject(refusal);
    expect(started.length).toBe(1);
    now += 1;
    expect(await readiness.check()).toBe(true);
  });

  it('refuses while all sandboxes are paused for want of disk', async () => {
    broken = new SandhavenError('resource_exhausted', 'All sandboxes are paused.', { retryable: true });
    await expect(readiness.check()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('hides the cause of a defect', async () => {
    broken = new Error('/srv/secret');
    await expect(readiness.check()).rejects.toThrow('No sandbox can be made: An internal error occurred.');
  });
});

it('a start that fails is looked into after 5 s, however often starts fail', async () => {
  await readiness.check();
  broken = new SandhavenError('unavailable', "The sandbox's own trouble.");
  for (let second = 0; second < 5; second++) {
    await expect(someStart()).rejects.toThrow();
    expect(await readiness.check()).toBe(true);
    now += 1_000;
  }
  broken = null;
  const before = started.length;
  await readiness.check();
  expect(started.length).toBe(before + 1);
});

it('a trial ends with the service', async () => {
  const check = readiness.check();
  await readiness.close();
  await check;
  expect(destroyed).toEqual(started);
});
