/** Memory of answers: each call holds its room until it is over. */
import { expect, it } from 'vitest';
import { AnswerRoom } from '../../src/fairness/answer-room.ts';

const MiB = 1024 ** 2;
/** As much as one user may hold. */
const SHARE = 56 * MiB;

/** Resolves to whether the user gets the whole share at once. */
async function isFree(room: AnswerRoom, owner: string): Promise<boolean> {
  const hold = room.hold(owner);
  const taken = hold.take(SHARE, AbortSignal.timeout(50)).then(
    () => true,
    () => false,
  );
  return taken.finally(() => hold.release());
}

it('is held until the call is over, and free for the next one then', async () => {
  const room = new AnswerRoom();
  const hold = room.hold('ada');
  await hold.take(SHARE);
  expect(await isFree(room, 'ada')).toBe(false);
  hold.release();
  expect(await isFree(room, 'ada')).toBe(true);
});

it('is given back at once by a call that was over before it came', async () => {
  const room = new AnswerRoom();
  const first = room.hold('ada');
  await first.take(SHARE);
  const second = room.hold('ada');
  const late = second.take(SHARE);
  second.release();
  first.release();
  await late;
  expect(await isFree(room, 'ada')).toBe(true);
});
