/** Keys that one replica holds at a time. */
import { beforeEach, describe, expect, it } from 'vitest';
import { HeldKeys } from '../../../src/control/base/held-keys.ts';
import type { IdempotencyStore } from '../../../src/control/ports/index.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: IdempotencyStore;
let living: Set<string>;

beforeEach(() => {
  store = memoryStore().idempotency;
  living = new Set(['one', 'two']);
});

const of = (id: string | null) => new HeldKeys(store, { id, lives: async (other) => living.has(other) });

describe('a key that a replica holds', () => {
  it('is refused to others until it is released', async () => {
    const [one, two] = [of('one'), of('two')];
    const release = await one.take('sb_a', 'k');
    expect(await two.take('sb_a', 'k')).toBeNull();
    expect(await two.take('sb_b', 'k')).not.toBeNull();
    expect(await two.take('sb_a', 'other')).not.toBeNull();
    release?.();
    await expect.poll(() => two.take('sb_a', 'k')).not.toBeNull();
    expect(await one.take('sb_a', 'k')).toBeNull();
  });

  it('is taken from one that was given up', async () => {
    await of('one').take('sb_a', 'k');
    living.delete('one');
    expect(await of('two').take('sb_a', 'k')).not.toBeNull();
  });

  it('is waited for', async () => {
    const release = await of('one').take('sb_a', 'k');
    let isTaken = false;
    const waiting = of('two')
      .wait('sb_a', 'k')
      .then(() => {
        isTaken = true;
      });
    await of('two').take('sb_a', 'other');
    expect(isTaken).toBe(false);
    release?.();
    await waiting;
  });

  it('is not lost by the late release of an earlier hold', async () => {
    let letGo = () => {};
    const slow = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const delayed: IdempotencyStore = {
      ...store,
      release: async (...which) => {
        await slow;
        await store.release(...which);
      },
    };
    const one = new HeldKeys(delayed, { id: 'one', lives: async () => true });
    (await one.take('sb_a', 'k'))?.();
    const again = one.take('sb_a', 'k');
    letGo();
    expect(await again).not.toBeNull();
    expect(await of('two').take('sb_a', 'k')).toBeNull();
  });

  it('costs nothing where there is one process alone', async () => {
    expect(await of(null).take('sb_a', 'k')).not.toBeNull();
    expect(await of(null).take('sb_a', 'k')).not.toBeNull();
    expect(await of('one').take('sb_a', 'k')).not.toBeNull();
  });
});
