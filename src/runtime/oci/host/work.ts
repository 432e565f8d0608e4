/** Work on sandboxes for callers: checks the id, waits its turn, and maps failures to errors without host details. */
import { KeyedQueue } from '../../../concurrency/keyed-queue.ts';
import type { Log } from '../../../control/ports/index.ts';
import { canceled, SandhavenError } from '../../../model/errors.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { toCallerError } from './failures.ts';

export interface Work {
  /** @param what Failure as a sentence for the caller, such as "The disk could not be grown." */
  inTurn<T>(
    id: string,
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Cancels running and waiting work of this sandbox, and goes next. */
  atOnce<T>(id: string, what: string, work: () => Promise<T>): Promise<T>;
  /** Does work that needs no turn. */
  now(id: string, what: string, work: () => Promise<void>): Promise<void>;
  busy(id: string): boolean;
  close(): Promise<void>;
}

export function createWork(log: Log): Work {
  const turns = new KeyedQueue({ preempted: () => canceled() });

  async function asCallersSee<T>(id: string, what: string, begin: () => Promise<T>): Promise<T> {
    checkId(id);
    try {
      return await begin();
    } catch (error) {
      throw toCallerError(error, what, log, { sandbox: id });
    }
  }

  return {
    inTurn: (id, what, work, signal) => asCallersSee(id, what, () => turns.run(id, work, signal)),
    atOnce: (id, what, work) => asCallersSee(id, what, () => turns.preempt(id, work)),
    now: (id, what, work) => asCallersSee(id, what, work),
    busy: (id) => turns.busy(id),
    close: () => turns.close(),
  };
}

/** Rejects anything but an id, since ids become names of files, cgroups and containers. */
export function checkId(id: string): void {
  if (sandboxIdPattern.test(id)) return;
  throw new SandhavenError('invalid_argument', 'This is not the id of a sandbox.', { parameter: 'sandbox' });
}
