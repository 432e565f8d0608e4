/** Reports of a slow stop, in the log: without them, a stop that hangs says nothing of its cause. */
import type { Log } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';

/**
 * Reports once if the process still runs after limits.slowStopMs, also when all of its parts say that they are closed.
 * Keeps no process running.
 */
export function reportSlowStop(log: Log): void {
  setTimeout(() => {
    const open: Record<string, number> = {};
    for (const resource of process.getActiveResourcesInfo()) open[resource] = (open[resource] ?? 0) + 1;
    log.warn('the stop takes long; these are still open', { open });
  }, limits.slowStopMs).unref();
}
