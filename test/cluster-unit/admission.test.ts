/** Answers of 409: an object that is there, and a quota that many change at once. */
import { expect, it } from 'vitest';
import { untilAdmitted } from '../../src/runtime/kubernetes/client/api.ts';
import { ApiFailure, isThere } from '../../src/runtime/kubernetes/client/failure.ts';

const busy = () =>
  new ApiFailure(
    409,
    'Conflict',
    'Operation cannot be fulfilled on resourcequotas "all": the object has been modified',
  );
const there = () => new ApiFailure(409, 'AlreadyExists', 'pods "sandbox-1" already exists');

function refusedBy(failures: Error[]): { create: () => Promise<string>; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    async create() {
      const failure = failures[calls++];
      if (failure) throw failure;
      return 'made';
    },
  };
}

it('a creation that a busy quota refuses is repeated', async () => {
  const { create, calls } = refusedBy([busy(), busy()]);
  expect(await untilAdmitted(create)).toBe('made');
  expect(calls()).toBe(3);
});

it('five times at most', async () => {
  const { create, calls } = refusedBy(Array.from({ length: 9 }, busy));
  await expect(untilAdmitted(create)).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
  expect(calls()).toBe(5);
});

it('a creation of what is there already is not', async () => {
  const { create, calls } = refusedBy([there()]);
  await expect(untilAdmitted(create)).rejects.toMatchObject({ reason: 'AlreadyExists' });
  expect(calls()).toBe(1);
  expect([isThere(there()), isThere(busy())]).toEqual([true, false]);
});
