import { beforeEach, expect, it } from 'vitest';
import { Unfinished } from '../../src/concurrency/unfinished.ts';

let failures: string[];
let unfinished: Unfinished;
let done: string[];

beforeEach(() => {
  failures = [];
  done = [];
  unfinished = new Unfinished((key, error) => failures.push(`${key}: ${(error as Error).message}`));
});

/** Fails so many times before it succeeds. */
function failing(times: number, name = 'work'): () => Promise<void> {
  let left = times;
  return async () => {
    if (left-- > 0) throw new Error('no');
    done.push(name);
  };
}

it('does work once that succeeds', async () => {
  await unfinished.attempt('a', failing(0));
  await unfinished.turn();
  expect({ done, failures }).toEqual({ done: ['work'], failures: [] });
});

it('repeats work until it succeeds, and reports each failure', async () => {
  await unfinished.attempt('a', failing(2));
  expect(done).toEqual([]);
  for (let turn = 0; turn < 10; turn++) await unfinished.turn();
  expect({ done, failures }).toEqual({ done: ['work'], failures: ['a: no', 'a: no'] });
});

it('pauses for one turn, three, seven, and then twelve at most', async () => {
  unfinished.add('a', failing(Number.POSITIVE_INFINITY));
  const tries: number[] = [];
  for (let turn = 1; turn <= 60; turn++) {
    const before = failures.length;
    await unfinished.turn();
    if (failures.length > before) tries.push(turn);
  }
  expect(tries).toEqual([1, 3, 7, 15, 28, 41, 54]);
});

it('tries all other work when one fails', async () => {
  unfinished.add('a', failing(9, 'a'));
  unfinished.add('b', failing(0, 'b'));
  await unfinished.turn();
  expect(done).toEqual(['b']);
});

it('replaces work of the same key, also while the earlier one runs', async () => {
  unfinished.add('a', failing(0, 'first'));
  unfinished.add('a', failing(0, 'second'));
  await unfinished.turn();
  expect(done).toEqual(['second']);

  unfinished.add('b', async () => unfinished.add('b', failing(0, 'added meanwhile')));
  await unfinished.turn();
  await unfinished.turn();
  expect(done).toEqual(['second', 'added meanwhile']);
});

it('pauses longer after each failure of work that adds itself again', async () => {
  const failures: number[] = [];
  let turn = 0;
  const again = async () => {
    failures.push(turn);
    unfinished.add('a', () => again());
    throw new Error('no');
  };
  unfinished.add('a', again);
  for (turn = 1; turn <= 15; turn++) await unfinished.turn();
  expect(failures).toEqual([1, 3, 7, 15]);
});

it('begins no work anew that an earlier turn still tries', async () => {
  const slow = Promise.withResolvers<void>();
  let begun = 0;
  unfinished.add('a', () => {
    begun++;
    return slow.promise;
  });
  const turn = unfinished.turn();
  await unfinished.turn();
  slow.resolve();
  await turn;
  expect(begun).toBe(1);
});
