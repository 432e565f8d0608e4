/** Reasons for which machines are frozen, over a kernel that is pretended. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createFreezer, type Freezer } from '../../../src/runtime/oci/machine/freezer.ts';
import { givenSeed, oneOf, randomFrom } from '../../support/random.ts';

const id = 'sb_0123456789abcdef';
let frozen: boolean;
let writes: boolean[];
let freezer: Freezer;
/** Awaited by each write. */
let kernel: () => Promise<void>;

beforeEach(() => {
  frozen = false;
  writes = [];
  kernel = async () => {};
  freezer = createFreezer({
    async setFrozen(_, wanted) {
      await kernel();
      writes.push(wanted);
      frozen = wanted;
    },
  });
});

describe('a machine', () => {
  it('is frozen until the last reason is gone', async () => {
    await freezer.hold(id, 'asleep');
    await freezer.hold(id, 'disk');
    await freezer.release(id, 'asleep');
    expect(frozen).toBe(true);
    await freezer.release(id, 'disk');
    expect(frozen).toBe(false);
  });

  it('is thawed by a release without a reason, as an earlier service may have left it frozen', async () => {
    frozen = true;
    await freezer.release(id, 'disk');
    expect(frozen).toBe(false);
  });

  it('is as the last call means it, though writes take their time', async () => {
    kernel = () => new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all([freezer.hold(id, 'asleep'), freezer.release(id, 'asleep')]);
    expect(frozen).toBe(false);
    await Promise.all([freezer.release(id, 'asleep'), freezer.hold(id, 'asleep')]);
    expect(frozen).toBe(true);
  });

  it('is written to again after a write that failed', async () => {
    kernel = () => Promise.reject(new Error('busy'));
    await expect(freezer.hold(id, 'asleep')).rejects.toThrow('busy');
    kernel = async () => {};
    await freezer.release(id, 'asleep');
    expect(writes).toEqual([false]);
  });

  it('stays frozen through a copy of its disk that somebody wakes it in, and goes on after it', async () => {
    await freezer.hold(id, 'asleep');
    await freezer.during(id, async () => {
      await freezer.release(id, 'asleep');
      expect(frozen).toBe(true);
    });
    expect(frozen).toBe(false);
  });

  it('sleeps on after a copy that thawed it', async () => {
    await freezer.hold(id, 'asleep');
    await freezer.during(id, async () => {
      frozen = false;
    });
    expect(frozen).toBe(true);
    await expect(freezer.during(id, () => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
    expect(frozen).toBe(true);
  });

  it('is frozen again when something else has thawed it, where there is a reason', async () => {
    await freezer.renew(id);
    expect(writes).toEqual([]);
    await freezer.hold(id, 'disk');
    frozen = false;
    await freezer.renew(id);
    expect(frozen).toBe(true);
    freezer.forget(id);
    await freezer.renew(id);
    expect(writes).toEqual([true, true]);
  });
});

it('any order of reasons ends as the reasons that are left say', async () => {
  const seed = givenSeed();
  const random = randomFrom(seed);
  for (let round = 0; round < 200; round++) {
    const left = new Set<string>();
    const pending: Promise<unknown>[] = [];
    kernel = () => new Promise((resolve) => setImmediate(resolve));
    for (let step = 0; step < 10; step++) {
      const reason = oneOf(random, ['asleep', 'disk'] as const);
      const act = oneOf(random, ['hold', 'release', 'during'] as const);
      if (act === 'hold') left.add(reason);
      if (act === 'release') left.delete(reason);
      pending.push(act === 'during' ? freezer.during(id, kernel) : freezer[act](id, reason));
      if (oneOf(random, [true, false])) await kernel();
    }
    await Promise.all(pending);
    expect(frozen, `seed ${seed}, round ${round}`).toBe(left.size > 0);
    freezer.forget(id);
  }
});
