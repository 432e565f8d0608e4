/** Running sandboxes that a change of something shared reaches: in their turns, a few at once, and until it succeeds. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import { RunningSandboxes } from '../../../src/control/network/running-sandboxes.ts';
import { notFound } from '../../../src/model/errors.ts';
import { sandboxRecord } from '../../store/fixtures.ts';

const secret = "secret 'stripe'";

let unfinished: Unfinished;
/** Work of each sandbox's turn, by id; the others do nothing. */
let during: Record<string, () => Promise<unknown>>;
let changed: unknown[];
let applied: string[];
let running: RunningSandboxes;

beforeEach(() => {
  unfinished = new Unfinished(() => {});
  during = {};
  changed = [];
  applied = [];
  const change: Machines['change'] = async (id, patch, then) => {
    const sandbox = sandboxRecord({ id, secretIds: ['se_1', 'se_2'] });
    await during[id]?.();
    changed.push(patch(sandbox));
    await then?.(sandbox, new AbortController().signal);
    return sandbox;
  };
  running = new RunningSandboxes({
    ...{ machines: { change }, unfinished, log: { info() {}, warn() {}, error() {} } },
    networks: { apply: async ({ id }) => void applied.push(id) },
  });
});

describe('a change of a secret', () => {
  it('changes the row, then puts it in force', async () => {
    await running.reach(['sb_1', 'sb_2'], secret, () => ({ secretIds: ['se_2'] }));
    expect([changed, applied]).toEqual([
      [{ secretIds: ['se_2'] }, { secretIds: ['se_2'] }],
      ['sb_1', 'sb_2'],
    ]);
  });

  it('reaches eight sandboxes at once', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `sb_${at}`);
    let [atOnce, most] = [0, 0];
    for (const id of ids) {
      during[id] = async () => {
        most = Math.max(most, ++atOnce);
        await new Promise(setImmediate);
        atOnce -= 1;
      };
    }
    await running.reach(ids, secret);
    expect([most, applied.toSorted()]).toEqual([8, ids.toSorted()]);
  });

  it('passes by one that is gone', async () => {
    during['sb_1'] = () => Promise.reject(notFound('sandbox', 'gone'));
    await running.reach(['sb_1', 'sb_2'], secret);
    expect(applied).toEqual(['sb_2']);
  });

  it('says where it fails, reaches the others, and is tried again', async () => {
    let failures = 2;
    during['sb_1'] = async () => {
      if (failures-- > 0) throw new Error('busy');
    };
    await expect(running.reach(['sb_1', 'sb_2'], secret)).rejects.toMatchObject({
      ...{ code: 'unavailable', message: expect.stringContaining("'stripe' is stored, and is not in force") },
    });
    expect(applied).toEqual(['sb_2']);
    await unfinished.turn();
    expect(applied).toEqual(['sb_2']);
    for (let turn = 0; turn < 3; turn++) await unfinished.turn();
    expect(applied).toEqual(['sb_2', 'sb_1']);
  });

  it('goes on behind the answer where a turn takes long', async () => {
    vi.useFakeTimers();
    try {
      const long = Promise.withResolvers<void>();
      during['sb_1'] = () => long.promise;
      const reached = running.reach(['sb_1'], secret);
      const refused = expect(reached).rejects.toMatchObject({ code: 'unavailable' });
      await vi.advanceTimersByTimeAsync(20_000);
      await refused;
      long.resolve();
      await vi.waitFor(() => expect(applied).toEqual(['sb_1']));
    } finally {
      vi.useRealTimers();
    }
  });
});
