/** Limits of time: what is late gets a stand-in or an error, and what is aborted rejects at once. */
import { describe, expect, it } from 'vitest';
import { abortRace, within } from '../../src/concurrency/deadline.ts';

const never = new Promise<string>(() => {});

describe('within a time limit', () => {
  it('returns what the work gives in time', async () => {
    expect(await within(10_000, Promise.resolve('given'), () => 'late')).toBe('given');
    await expect(within(10_000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed');
  });

  it('returns or throws what `late` does once the time is over', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
    const refuse = () => {
      throw new Error('too late');
    };
    await expect(within(1, never, refuse)).rejects.toThrow('too late');
  });
});

describe('a race with an abort', () => {
  it('returns what the work gives before it', async () => {
    expect(await abortRace(Promise.resolve('given'), new AbortController().signal)).toBe('given');
  });

  it('rejects with the reason, of a signal that was aborted before it began too', async () => {
    const controller = new AbortController();
    const race = abortRace(never, controller.signal);
    controller.abort(new Error('gone'));
    await expect(race).rejects.toThrow('gone');
    await expect(abortRace(never, controller.signal)).rejects.toThrow('gone');
  });
});
