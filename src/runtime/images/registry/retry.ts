/** Another try for what a registry or the way to it broke off, after a pause that doubles. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { canceled } from '../../canceled.ts';
import { failureOf } from '../helpers.ts';

/** A server that is in trouble, or a connection that broke; not one that is refused, or a name that is unknown. */
// A registry whose first answer is an error is taken for one of the first kind.
const passing =
  /\b(status|code|received unexpected HTTP)[^\n]{0,40}\b5\d\d\b|: 5\d\d [A-Z]|timeout|timed out|\bEOF\b|reset by peer|broken pipe|connection closed|V1 container registry/i;

/** Fails with the last error, or at once with one that another try does not change. */
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
