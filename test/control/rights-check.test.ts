/** When the rights of open work are read anew, and what happens when they cannot be. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OpenEnds } from '../../src/control/callers/caller-rights.ts';
import { RightsCheck } from '../../src/control/replicas/rights-check.ts';

let check: RightsCheck;
let open: OpenEnds;
let onGap: () => void;
let ended: string[];
/** Names of rights in the order in which they were read. */
let read: string[];
let holds: (name: string) => Promise<boolean>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  [ended, read, holds] = [[], [], async () => true];
  open = new OpenEnds();
  const replicas = {
    onGap(listener: () => void) {
      onGap = listener;
    },
  };
  check = new RightsCheck({ open: [open], replicas, log: { warn: () => {} } });
  check.begin();
});
afterEach(async () => {
  await check.close();
  vi.useRealTimers();
});

const watch = (id: string, name: string, work: string) =>
  open.watch(id, () => ended.push(work), {
    name,
    holds: () => {
      read.push(name);
      return holds(name);
    },
  });

describe('the right of open work', () => {
  it('is read each minute and after a gap, once for all work of one right', async () => {
    watch('user', 'user', 'one');
    watch('user', 'user', 'two');
    watch('ssh', 'token', 'three');
    await vi.advanceTimersByTimeAsync(59_999);
    expect(read).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(read).toEqual(['user', 'token']);
    onGap();
    await check.turn();
    expect(read.length).toBeGreaterThan(2);
    expect(ended).toEqual([]);
  });

  it('ends its work when it is over, and no other work of the same id', async () => {
    watch('ssh', 'revoked', 'one');
    watch('ssh', 'revoked', 'two');
    watch('ssh', 'valid', 'three');
    holds = async (name) => name === 'valid';
    await check.turn();
    expect(ended).toEqual(['one', 'two']);
    await check.turn();
    expect(ended).toEqual(['one', 'two']);
    open.over('ssh');
    expect(ended).toEqual(['one', 'two', 'three']);
  });

  it('ends no work that has left while the right was being read', async () => {
    const leave = watch('ssh', 'revoked', 'one');
    holds = async () => {
      leave();
      return false;
    };
    await check.turn();
    expect(ended).toEqual([]);
  });

  it('is read again when a gap ends during a reading', async () => {
    watch('ssh', 'token', 'one');
    const first = Promise.withResolvers<boolean>();
    holds = () => (read.length === 1 ? first.promise : Promise.resolve(false));
    const turn = check.turn();
    onGap();
    first.resolve(true);
    await turn;
    expect(read).toEqual(['token', 'token']);
    expect(ended).toEqual(['one']);
  });
});

describe('open work whose right cannot be read', () => {
  it('goes on for five minutes, and ends at the next check', async () => {
    watch('user', 'user', 'one');
    await check.turn();
    holds = () => Promise.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ended).toEqual(['one']);
  });

  it('stays when the store comes back before', async () => {
    watch('user', 'user', 'one');
    holds = () => Promise.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    holds = async () => true;
    await vi.advanceTimersByTimeAsync(60_000);
    holds = () => Promise.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect(ended).toEqual([]);
  });
});
