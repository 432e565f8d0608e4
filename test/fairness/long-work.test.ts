/** Work that holds the thread leaves half of its time to others. */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LongWork } from '../../src/fairness/fair-queue.ts';

const HOLD_MS = 40;

function hold(): void {
  const end = performance.now() + HOLD_MS;
  while (performance.now() < end);
}

it('is done one piece at a time, each owner in turn', async () => {
  const work = new LongWork('long things are being done');
  const done: string[] = [];
  const asked = ['ada', 'ada', 'ada', 'ben'].map((owner, at) =>
    work.run(owner, () => void done.push(`${owner} ${at}`)),
  );
  await Promise.all(asked);
  expect(done).toEqual(['ada 0', 'ada 1', 'ben 3', 'ada 2']);
});

it('is followed by as long a pause, in which all else goes on', async () => {
  const work = new LongWork('long things are being done');
  const ended: number[] = [];
  const begun: number[] = [];
  const piece = async () => {
    begun.push(performance.now());
    hold();
    ended.push(performance.now());
  };
  let turns = 0;
  const both = Promise.all([work.run('ada', piece), work.run('ben', piece)]);
  for (let over = false; !over; turns++) {
    await setImmediate();
    over = ended.length === 2;
  }
  await both;
  expect((begun[1] ?? 0) - (ended[0] ?? 0)).toBeGreaterThan(HOLD_MS - 5);
  expect(turns).toBeGreaterThan(10);
});

it('is paid for when it fails too, and a caller who leaves is forgotten', async () => {
  const work = new LongWork('long things are being done');
  const left = new AbortController();
  const failing = work.run('ada', () => {
    hold();
    throw new Error('no');
  });
  const waiting = work.run('ben', () => 'never', left.signal);
  left.abort(new Error('gone'));
  const outcomes = await Promise.allSettled([failing, waiting]);
  expect(outcomes.map((outcome) => 'reason' in outcome && outcome.reason.message)).toEqual(['no', 'gone']);
  expect(await work.run('eve', () => 'done')).toBe('done');
});
