/**
 * Lifecycle of a sandbox as pure functions: the commands allowed in each state, the operations that they begin, and the
 * state after each outcome. Nothing here waits, reads a clock or touches a machine.
 *
 * Operations on one sandbox run one at a time, so a command is decided against a sandbox with no operation in progress.
 * The one exception is `delete`, which pre-empts.
 */
import { SandhavenError } from './errors.ts';
import { limits } from './limits.ts';
import { LOST_REASON } from './lost-node.ts';
import type { Operation, Resources, Sandbox, SandboxState } from './sandbox.ts';

export interface ResizeRequest {
  cpu?: number;
  memory?: number;
  disk?: number;
}

export type Command =
  | { type: 'start' }
  | { type: 'stop' }
  | { type: 'archive' }
  | { type: 'delete' }
  | { type: 'resize'; request: ResizeRequest }
  /** Puts the disk back to a captured one. */
  | { type: 'rollback'; captureId: string }
  /** A tool call that works inside: commands and files. */
  | { type: 'use' };

export type Decision =
  | {
      kind: 'begin';
      operation: Exclude<Operation, 'creating'>;
      resizeTarget: Resources | null;
      rollbackTo?: string | null;
    }
  | { kind: 'unchanged' }
  | { kind: 'refused'; error: SandhavenError };

export type Outcome =
  | { type: 'succeeded' }
  /** The engine declined before it changed anything, for want of capacity for example. */
  | { type: 'declined' }
  | { type: 'failed'; reason: string }
  /** PID 1 died, or the host rebooted. */
  | { type: 'exited'; reason: string }
  /** Its node does not answer: the machine may still run, so it has not ended. */
  | { type: 'unreachable' };

/** Result of settling: a sandbox in one of the four states, or none. */
export type Settlement =
  | { kind: 'deleted' }
  /** The operation stays stored and is finished later: a half-deleted sandbox must not start again. */
  | { kind: 'unsettled' }
  | {
      kind: 'settled';
      state: SandboxState;
      stateReason: string | null;
      resources: Resources;
    };

type Shape = Pick<Sandbox, 'name' | 'state' | 'operation' | 'resources' | 'archive'>;

export function decide(sandbox: Shape, command: Command): Decision {
  if (command.type === 'delete') return begin('deleting');
  if (sandbox.operation === 'deleting') {
    return refuse(`Sandbox '${sandbox.name}' is being deleted.`, 'Create another sandbox.');
  }
  switch (command.type) {
    case 'start':
      return decideStart(sandbox);
    case 'stop':
      return decideStop(sandbox);
    case 'archive':
      return decideArchive(sandbox);
    case 'resize':
      return decideResize(sandbox, command.request);
    case 'rollback':
      return { kind: 'begin', operation: 'restoring', resizeTarget: null, rollbackTo: command.captureId };
    case 'use':
      return sandbox.state === 'started' ? { kind: 'unchanged' } : refuseUse(sandbox);
  }
}

/** Returns true when `stop`, or the loss of its machine, deletes the sandbox. */
export function deletedByStop(sandbox: Pick<Sandbox, 'ephemeral' | 'autoDeleteMinutes'>): boolean {
  return sandbox.ephemeral || sandbox.autoDeleteMinutes === 0;
}

export function settle(
  sandbox: Pick<
    Sandbox,
    | 'state'
    | 'stateReason'
    | 'operation'
    | 'resources'
    | 'resizeTarget'
    | 'archive'
    | 'ephemeral'
    | 'autoDeleteMinutes'
  >,
  outcome: Outcome,
): Settlement {
  const to = (
    state: SandboxState,
    stateReason: string | null,
    resources = sandbox.resources,
  ): Settlement => ({
    kind: 'settled',
    state,
    stateReason,
    resources,
  });
  if (outcome.type === 'exited') {
    return deletedByStop(sandbox) ? { kind: 'deleted' } : to('stopped', outcome.reason);
  }
  if (outcome.type === 'unreachable') return to('error', LOST_REASON);
  if (outcome.type === 'declined') {
    if (sandbox.operation === 'creating') return { kind: 'deleted' };
    // A running sandbox has no reason of its own, so a present one came with the declined stop.
    return to(sandbox.state, sandbox.state === 'started' ? null : sandbox.stateReason);
  }
  if (outcome.type === 'failed') {
    switch (sandbox.operation) {
      case 'creating':
        return { kind: 'deleted' };
      case 'resizing':
        // All or nothing: the sandbox is unchanged, and the caller gets the reason.
        return to(sandbox.state, sandbox.stateReason);
      case 'deleting':
        return { kind: 'unsettled' };
      default:
        return to('error', outcome.reason);
    }
  }
  switch (sandbox.operation) {
    case 'creating':
    case 'starting':
    case 'restoring':
      return to('started', null);
    case 'stopping':
      if (deletedByStop(sandbox)) return { kind: 'deleted' };
      // A failed restore leaves the archive as the only sure copy, so the sandbox is archived.
      if (sandbox.archive) return to('archived', null);
      // A running sandbox has no reason of its own, so a present one came with the stop.
      return to('stopped', sandbox.state === 'started' ? sandbox.stateReason : null);
    case 'archiving':
      return to('archived', null);
    case 'resizing':
      return to(sandbox.state, sandbox.stateReason, sandbox.resizeTarget ?? sandbox.resources);
    case 'deleting':
      return { kind: 'deleted' };
    case null:
      return to(sandbox.state, null);
  }
}

/** Returns the next timed command for a sandbox, and its time (milliseconds since the epoch). */
export function nextDeadline(
  sandbox: Pick<
    Sandbox,
    | 'state'
    | 'operation'
    | 'autoStopMinutes'
    | 'autoArchiveMinutes'
    | 'autoDeleteMinutes'
    | 'lastActivityAt'
    | 'stoppedAt'
  >,
): { command: 'stop' | 'archive' | 'delete'; at: number } | null {
  if (sandbox.operation !== null) return null;
  if (sandbox.state === 'started') {
    if (sandbox.autoStopMinutes === 0) return null;
    return { command: 'stop', at: sandbox.lastActivityAt + minutes(sandbox.autoStopMinutes) };
  }
  // The contract counts from a stop; a sandbox in error waits for a person.
  if (sandbox.state === 'error' || sandbox.stoppedAt === null) return null;
  const deleteAt =
    sandbox.autoDeleteMinutes < 0 ? Infinity : sandbox.stoppedAt + minutes(sandbox.autoDeleteMinutes);
  const archiveAt =
    sandbox.state === 'stopped'
      ? sandbox.stoppedAt + minutes(sandbox.autoArchiveMinutes || limits.autoArchiveMinutes.max)
      : Infinity;
  if (deleteAt === Infinity && archiveAt === Infinity) return null;
  return deleteAt <= archiveAt ? { command: 'delete', at: deleteAt } : { command: 'archive', at: archiveAt };
}

function decideStart(sandbox: Shape): Decision {
  switch (sandbox.state) {
    case 'started':
      return { kind: 'unchanged' };
    case 'archived':
      return begin('restoring');
    case 'stopped':
    case 'error':
      // A failed restore leaves the archive as the only sure copy, so the retry restores too.
      return begin(sandbox.archive ? 'restoring' : 'starting');
  }
}

function decideStop(sandbox: Shape): Decision {
  switch (sandbox.state) {
    case 'started':
    case 'error':
      return begin('stopping');
    case 'stopped':
      return { kind: 'unchanged' };
    case 'archived':
      return refuse(
        `Sandbox '${sandbox.name}' is archived; StopSandbox needs it started.`,
        'Call Sandbox.StartSandbox first, or leave it archived.',
      );
  }
}

function decideArchive(sandbox: Shape): Decision {
  switch (sandbox.state) {
    case 'stopped':
      return begin('archiving');
    case 'started':
      return refuse(
        `Sandbox '${sandbox.name}' is started; ArchiveSandbox needs it stopped.`,
        'Call Sandbox.StopSandbox first.',
      );
    case 'archived':
      return refuse(`Sandbox '${sandbox.name}' is already archived.`, 'Nothing is left to do.');
    case 'error':
      return refuse(
        `Sandbox '${sandbox.name}' is in error; ArchiveSandbox needs it stopped.`,
        'Call Sandbox.StartSandbox to retry, then Sandbox.StopSandbox.',
      );
  }
}

function decideResize(sandbox: Shape, request: ResizeRequest): Decision {
  const { state, resources } = sandbox;
  if (state === 'archived' || state === 'error') {
    return refuse(
      `Sandbox '${sandbox.name}' is ${state === 'error' ? 'in error' : state}; ResizeSandbox needs it started or stopped.`,
      'Call Sandbox.StartSandbox first.',
    );
  }
  const target = { ...resources, ...request };
  if (target.disk < resources.disk) {
    return {
      kind: 'refused',
      error: new SandhavenError(
        'invalid_argument',
        `disk_gb can never decrease: it is ${resources.disk}, and ${target.disk} was given.`,
        { parameter: 'disk_gb', hint: `Give disk_gb of at least ${resources.disk}, or leave it out.` },
      ),
    };
  }
  if (state === 'started') {
    if (target.disk !== resources.disk) {
      return refuse(
        `Sandbox '${sandbox.name}' is started; a change of disk_gb needs it stopped.`,
        'Call Sandbox.StopSandbox first, then resize, then start it.',
        'disk_gb',
      );
    }
    for (const [key, parameter] of [
      ['cpu', 'cpu'],
      ['memory', 'memory_gb'],
    ] as const) {
      if (target[key] < resources[key]) {
        return refuse(
          `Sandbox '${sandbox.name}' is started; ${parameter} can only increase while it runs (it is ${resources[key]}, and ${target[key]} was given).`,
          'Call Sandbox.StopSandbox first to decrease it.',
          parameter,
        );
      }
    }
  }
  const same =
    target.cpu === resources.cpu && target.memory === resources.memory && target.disk === resources.disk;
  return same ? { kind: 'unchanged' } : { kind: 'begin', operation: 'resizing', resizeTarget: target };
}

function refuseUse(sandbox: Shape): Decision {
  return refuse(
    `Sandbox '${sandbox.name}' is ${sandbox.state === 'error' ? 'in error' : sandbox.state}; it must be started to work in it.`,
    'Call Sandbox.StartSandbox first.',
  );
}

function begin(operation: Exclude<Operation, 'creating'>): Decision {
  return { kind: 'begin', operation, resizeTarget: null };
}

function refuse(detail: string, hint: string, parameter = 'sandbox'): Decision {
  return { kind: 'refused', error: new SandhavenError('invalid_state', detail, { parameter, hint }) };
}

function minutes(count: number): number {
  return count * 60_000;
}
