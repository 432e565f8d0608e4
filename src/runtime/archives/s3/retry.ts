/** Repeats a request whose failure may pass, after pauses that double, with a random part so that callers spread. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { S3Failure } from './failure.ts';

/** @param attempt Called with the number of the attempt, from 1. */
export async function retrying<T>(attempt: (number: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error) || number >= limits.archives.attempts) throw error;
      await pauseAfter(number, signal);
    }
  }
}

export function mayPass(error: unknown): boolean {
  return error instanceof S3Failure && error.passing;
}

/** Rejects with the signal's reason when it is aborted. */
export async function pauseAfter(failures: number, signal?: AbortSignal): Promise<void> {
  const { retryDelayMs, retryDelayMaxMs } = limits.archives;
  const longest = Math.min(retryDelayMs * 2 ** (failures - 1), retryDelayMaxMs);
  try {
    await sleep(longest * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
