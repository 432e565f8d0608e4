/** Maps failures of the runtime to errors for callers, without a helper's own output, which names paths of the host. */
import type { Log } from '../../../control/ports/index.ts';
import { canceled, isAbort, SandhavenError } from '../../../model/errors.ts';
import { isOutOfHandles } from '../../start-program.ts';
import { HelperFailure, launcherStatus } from './helper.ts';

/** @param what Failure as a sentence for the caller, such as "The disk could not be grown." */
export function toCallerError(error: unknown, what: string, log: Log, context: object): SandhavenError {
  if (error instanceof SandhavenError) return error;
  if (isAbort(error)) return canceled(error);
  const reason = describeFailure(error);
  log.error(what, { ...context, reason });
  if (error instanceof HelperFailure && error.exitCode === launcherStatus.noSpace) {
    return new SandhavenError(
      'resource_exhausted',
      `${what} The sandbox's disk is full.`,
      { hint: 'Enlarge its disk with Sandbox.ResizeSandbox.' },
      error,
    );
  }
  if (isNoSpace(error)) {
    return new SandhavenError(
      'resource_exhausted',
      `${what} The host has no disk space left.`,
      { hint: 'Delete or archive sandboxes that are not needed.' },
      error,
    );
  }
  if (isOutOfHandles(error) || isOutOfHandles((error as Error | null)?.cause)) {
    return new SandhavenError(
      'unavailable',
      `${what} The service has too many files open, or the host too many processes.`,
      {
        hint: 'Try again in a moment, with fewer calls at once; `sandhaven doctor` shows the operator the limit.',
      },
      error,
    );
  }
  if (error instanceof HelperFailure && error.exitCode === launcherStatus.locked) {
    return new SandhavenError(
      'unavailable',
      `${what} Its disk is still in use.`,
      { hint: 'Try again.' },
      error,
    );
  }
  return new SandhavenError(
    'unavailable',
    what,
    { hint: "Try again; when it fails again, the service's log has the cause." },
    error,
  );
}

function isNoSpace(error: unknown): boolean {
  if (error instanceof HelperFailure) {
    return (
      error.exitCode === launcherStatus.noSpace || /no space left|disk quota exceeded/i.test(error.stderr)
    );
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Describes the failure for the log, without paths. */
export function describeFailure(error: unknown): string {
  const text =
    error instanceof HelperFailure
      ? `${error.message}: ${error.stderr.trim()}`
      : String((error as Error)?.message);
  return text.replaceAll(/(?<![\w.])\/[^\s:;,'")]+/g, '<path>').slice(0, 2_000);
}
