/** Retries of registry requests after transient failures, with a pause that doubles. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { canceled } from '../../canceled.ts';
import { failureOf } from './helpers.ts';

/** Matches server errors and broken connections; not refused connections and unknown names. */
// skopeo takes a registry whose first answer is an error for one of API version 1.
const passing =
  /\b(status|code|received unexpected HTTP)[^\n]{0,40}\b5\d\d\b|: 5\d\d [A-Z]|timeout|timed out|\bEOF\b|reset by peer|broken pipe|connection closed|V1 container registry/i;

/** Fails with the last error, or at once with one that is not transient. */
export async function retrying<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || attempt >= limits.image.attempts || !isPassing(error)) throw error;
    }
    const delayMs = limits.image.retryDelayMs * 2 ** (attempt - 1);
    await sleep(delayMs, undefined, { signal }).catch(() => {
      throw canceled();
    });
  }
}

function isPassing(error: unknown): boolean {
  const said = failureOf(error)?.stderr ?? (error instanceof Error ? failureOf(error.cause)?.stderr : null);
  return said !== null && said !== undefined && passing.test(said);
}
