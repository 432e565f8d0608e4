/** Discarding of what no caller has seen: it takes the row first, and leaves alone what somebody else has taken. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { discard, forAMoment } from '../../../src/control/lifecycle/discard.ts';
import type { SandboxStore } from '../../../src/control/ports/index.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { alice, poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
/** Rows as they were when their machines were destroyed. */
let destroyed: (Sandbox | null)[];
/** Fails the next removals of a machine. */
let failures: number;

const made = sandboxRecord({ id: 'sb_1', state: 'stopped', operation: 'creating', runGeneration: null });

beforeEach(() => {
  store = memoryStore().sandboxes;
  destroyed = [];
  failures = 0;
});

function run(sandbox: Sandbox): Promise<void> {
  return discard(
    {
      store,
      runtime: {
        async destroy(id) {
          destroyed.push(await store.get(id));
          if (failures-- > 0) throw new Error('no host');
        },
      },
      watches: { end() {} },
      replicas: createAlone(),
    },
    sandbox,
  );
}

describe('a discarded row', () => {
  it('is taken under a new generation, hidden, before its machine goes', async () => {
    await store.insert(made);
    await run(made);
    expect(destroyed).toEqual([{ ...made, generation: made.generation + 1, name: made.id }]);
    expect(await store.all()).toEqual([]);
  });

  it('is removed by a later try when its machine did not go', async () => {
    await store.insert(made);
    failures = 1;
    await expect(run(made)).rejects.toThrow('no host');
    await run(made);
    expect(destroyed).toHaveLength(2);
    expect(await store.all()).toEqual([]);
  });

  it('leaves its name to others while its machine has not gone', async () => {
    await store.insert(made);
    failures = 1;
    await expect(run(made)).rejects.toThrow('no host');
    await store.insert({ ...made, id: 'sb_2' });
    expect(await store.all()).toHaveLength(2);
  });

  it('is not needed: the machine of a row that is gone is destroyed', async () => {
    await run(made);
    expect(destroyed).toEqual([null]);
  });
});

describe('the answer to a failed creation', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits for the removal, and leaves no timer', async () => {
    await forAMoment(Promise.resolve());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('comes after 5 seconds while the removal goes on', async () => {
    let isAnswered = false;
    const removal = new Promise<void>(() => {});
    void forAMoment(removal).then(() => {
      isAnswered = true;
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isAnswered).toBe(true);
  });
});

describe('a row that somebody else has taken', () => {
  const match = { imageDigest: 'sha256:base', diskGb: 20 };

  it.each([null, 'creating'] as const)('is left alone: a claim, with operation %s', async (operation) => {
    const pooled = poolRecord({ id: 'sb_1', ...match });
    await store.insert(pooled);
    const claimed = await store.claim(match, { ownerId: alice.id, name: 'mine', operation });
    expect(claimed?.id).toBe('sb_1');
    await run(pooled);
    expect(destroyed).toEqual([]);
    expect(await store.all()).toEqual([claimed]);
  });

  it('is left alone: an operation', async () => {
    await store.insert(made);
    const stopping = await store.update('sb_1', made.generation, { operation: 'stopping', generation: 9 });
    await run(made);
    expect(destroyed).toEqual([]);
    expect(await store.all()).toEqual([stopping]);
  });
});
