/** Work on sandboxes as callers see it: checked, in its turn, and with failures that say nothing of the host. */
import { KeyedQueue } from '../../concurrency/keyed-queue.ts';
import type { Log } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { sandboxIdPattern } from '../../model/ids.ts';
import { canceled } from '../canceled.ts';
import { toCallerError } from './failures.ts';

export interface Work {
  /** @param what What could not be done, should it fail, as a sentence for the caller. */
  inTurn<T>(
    id: string,
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Cancels what runs or waits for this sandbox, and goes next. */
  atOnce<T>(id: string, what: string, work: () => Promise<T>): Promise<T>;
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
    busy: (id) => turns.busy(id),
    close: () => turns.close(),
  };
}

/** Ids become names of files, cgroups and containers, so nothing else gets in. */
export function checkId(id: string): void {
  if (sandboxIdPattern.test(id)) return;
  throw new SandhavenError('invalid_argument', 'This is not the id of a sandbox.', { parameter: 'sandbox' });
}
