/** The stop of a service: nothing begins any more, one bound for all that is under way, and what is stored in any case. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Closing, closeInTime, OpenStreams } from '../../src/concurrency/closing.ts';

let steps: string[];

beforeEach(() => {
  vi.useFakeTimers();
  steps = [];
});

afterEach(() => {
  vi.useRealTimers();
});

const step =
  (name: string, work: Promise<void> = Promise.resolve()) =>
  () => {
    steps.push(name);
    return work;
  };
const late = () => {
  throw new Error('too late');
};
const close = (closing: Omit<Closing, 'timeoutMs' | 'late'>) =>
  closeInTime({ ...closing, timeoutMs: 30_000, late });
const never = new Promise<void>(() => {});
const failing = (message: string) => {
  const failed = Promise.reject(new Error(message));
  failed.catch(() => {});
  return failed;
};

it('closes every part before it waits for one, and asks for operations when all have ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const closing = close({
    parts: [step('pool', promise), step('scheduler')],
    drained: step('drained'),
    last: [step('flush'), step('people')],
  });
  expect(steps).toEqual(['pool', 'scheduler']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(steps).toHaveLength(2);
  resolve();
  await closing;
  expect(steps).toEqual(['pool', 'scheduler', 'drained', 'flush', 'people']);
});

it.each([
  ['a part', [step('pool', never)], step('drained')],
  ['an operation', [step('pool')], step('drained', never)],
])('waits 30 s for all together, then stores what is left: %s goes on', async (_, parts, drained) => {
  const closing = close({ parts, drained, last: [step('flush'), step('people')] });
  const refused = expect(closing).rejects.toThrow('too late');
  await vi.advanceTimersByTimeAsync(29_999);
  expect(steps).not.toContain('flush');
  await vi.advanceTimersByTimeAsync(1);
  await refused;
  expect(steps.slice(-2)).toEqual(['flush', 'people']);
});

it('does the rest when a part or a step fails, and rejects with it', async () => {
  const closing = close({
    parts: [step('pool', failing('no pool')), step('scheduler')],
    drained: step('drained'),
    last: [step('watches'), step('flush'), step('people')],
  });
  await expect(closing).rejects.toThrow('no pool');
  expect(steps).toEqual(['pool', 'scheduler', 'drained', 'watches', 'flush', 'people']);
  steps = [];
  const last = [step('flush', failing('no store')), step('people')];
  await expect(close({ parts: [], drained: step('drained'), last })).rejects.toThrow('no store');
  expect(steps).toEqual(['drained', 'flush', 'people']);
});

it('cuts the streams that are open, and refuses later ones', () => {
  const streams = new OpenStreams();
  const [earlier, later] = [new PassThrough(), new PassThrough()];
  // Whoever used it has left, and listens no more.
  streams.keep(earlier);
  const stop = new Error('stop');
  streams.cut(stop);
  expect(earlier.errored).toBe(stop);
  expect(() => streams.keep(later)).toThrow(stop);
  expect(later.destroyed).toBe(true);
});
