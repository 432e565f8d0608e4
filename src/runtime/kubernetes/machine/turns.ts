/** Work on sandboxes for callers: checks the id, waits its turn, and maps failures to errors for callers. */
import { KeyedQueue } from '../../../concurrency/keyed-queue.ts';
import type { Log } from '../../../control/ports/index.ts';
import { canceled, SandhavenError } from '../../../model/errors.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { fromApi } from '../client/failure.ts';

export interface Turns {
  /** @param what Failure as a sentence for the caller, such as "The disk could not be grown." */
  inTurn<T>(
    id: string,
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Cancels running and waiting work of this sandbox, and goes next. */
  atOnce<T>(id: string, what: string, work: () => Promise<T>): Promise<T>;
  busy(id: string): boolean;
  close(): Promise<void>;
}

export function createTurns(log: Log): Turns {
  const turns = new KeyedQueue({ preempted: () => canceled() });

  async function asCallersSee<T>(
    id: string,
    what: string,
    begin: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    checkId(id);
    try {
      return await begin();
    } catch (error) {
      if (error instanceof SandhavenError) throw error;
      if (signal?.aborted) throw canceled(error);
      log.error(what, { sandbox: id, error });
      throw fromApi(error, what);
    }
  }

  return {
    inTurn: (id, what, work, signal) =>
      asCallersSee(id, what, () => turns.run(id, (either) => unlessCanceled(work, either), signal), signal),
    atOnce: (id, what, work) => asCallersSee(id, what, () => turns.preempt(id, work)),
    busy: (id) => turns.busy(id),
    close: () => turns.close(),
  };
}

/** Errors of work that was canceled are as many as the places at which it may be; one of its own passes. */
async function unlessCanceled<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? canceled(error) : error;
  }
}

/** Rejects anything but an id, since ids become names of objects. */
export function checkId(id: string): void {
  if (sandboxIdPattern.test(id)) return;
  throw new SandhavenError('invalid_argument', 'This is not the id of a sandbox.', { parameter: 'sandbox' });
}
