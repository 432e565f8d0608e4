/** Idempotent calls: one run for each key, its answer for a day, and no memory of failures. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { IdempotencyStore } from '../../../src/control/ports/index.ts';
import { Idempotency } from '../../../src/control/turns/idempotency.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const HOUR = 60 * 60 * 1000;
const request = { tool: 'Sandbox.CreateSandbox', name: 'demo' };
const other = { tool: 'Sandbox.CreateSandbox', name: 'other' };
const refused = { code: 'invalid_argument', fields: { parameter: 'Idempotency-Key' } };

let now: number;
let store: IdempotencyStore;
let idempotency: Idempotency;
let runs: number;

beforeEach(() => {
  now = 100 * HOUR;
  store = memoryStore().idempotency;
  idempotency = restarted();
  runs = 0;
});

/** A service that knows only the store. */
function restarted(): Idempotency {
  return new Idempotency(store, { now: () => now }, createAlone());
}

const run = async () => ({ run: ++runs });
const call = (key = 'k', given: unknown = request, owner = 'user_alice') =>
  idempotency.once(owner, key, given, run);

describe('[WIRE-HTTP-10] calls with one key', () => {
  it('run once when they come together', async () => {
    expect(await Promise.all([call(), call(), call()])).toEqual([{ run: 1 }, { run: 1 }, { run: 1 }]);
    expect(runs).toBe(1);
  });

  it('get the first answer afterwards, from another process too', async () => {
    await call();
    expect(await call()).toEqual({ run: 1 });
    idempotency = restarted();
    expect(await call()).toEqual({ run: 1 });
    expect(runs).toBe(1);
  });

  it('are refused for another request, during the first run and after it', async () => {
    const first = call();
    await expect(call('k', other)).rejects.toMatchObject(refused);
    expect(await first).toEqual({ run: 1 });
    await expect(call('k', other)).rejects.toMatchObject(refused);
    expect(runs).toBe(1);
  });

  it('are refused alone: the first answer stays', async () => {
    await call();
    await expect(call('k', other)).rejects.toMatchObject(refused);
    expect(await call()).toEqual({ run: 1 });
  });

  it('of two owners have nothing in common, nor have those with two keys of one owner', async () => {
    const answers = await Promise.all([call(), call('k', other, 'user_bob'), call('k2', other)]);
    expect(answers).toEqual([{ run: 1 }, { run: 2 }, { run: 3 }]);
    expect(await call('k', other, 'user_bob')).toEqual({ run: 2 });
  });
});

describe('a failure', () => {
  it('is for all who wait for it, and not kept', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const failing = [1, 2].map(() => idempotency.once('user_alice', 'k', request, () => promise));
    reject(new Error('broken'));
    expect(await Promise.allSettled(failing)).toMatchObject([
      { reason: { message: 'broken' } },
      { reason: { message: 'broken' } },
    ]);
    expect(await call()).toEqual({ run: 1 });
  });

  it('leaves the key free for another request', async () => {
    await idempotency
      .once('user_alice', 'k', request, () => Promise.reject(new Error('broken')))
      .catch(() => {});
    expect(await call('k', other)).toEqual({ run: 1 });
  });
});

describe('an answer', () => {
  it('is returned once it is stored, since a retry may reach the next process', async () => {
    const { promise: stored, resolve } = Promise.withResolvers<void>();
    const { put } = store;
    store.put = async (...answer) => {
      await stored;
      await put(...answer);
    };
    let answered = false;
    const first = call().finally(() => {
      answered = true;
    });
    await expect.poll(() => runs).toBe(1);
    const second = call();
    expect(answered).toBe(false);
    resolve();
    expect(await Promise.all([first, second])).toEqual([{ run: 1 }, { run: 1 }]);
  });

  it('is kept from the end of its run', async () => {
    await idempotency.once('user_alice', 'k', request, async () => {
      now += HOUR;
      return 'made';
    });
    await store.prune(101 * HOUR);
    expect(await call()).toBe('made');
    await store.prune(101 * HOUR + 1);
    expect(await call()).toEqual({ run: 1 });
  });

  it('may be missing for work of the last 24 h: the run receives the begin of that time', async () => {
    const given = await idempotency.once('user_alice', 'k', request, async (keptSince) => keptSince);
    expect(given).toBe(76 * HOUR);
  });
});
