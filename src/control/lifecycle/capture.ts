/** Captures of sandboxes' disks, each in its sandbox's turn and in its owner's share. */
import { FairQueue } from '../../fairness/fair-queue.ts';
import { invalidArgument, type SandhavenError } from '../../model/errors.ts';
import { decide } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import { concerns } from '../audit/scope.ts';
import type { CapturedDisks, Runtime, SandboxStore, SnapshotStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import { capturedDisks } from './archives.ts';
import type { Machines } from './machines.ts';
import { templateOf } from './template.ts';

export interface CaptureDependencies {
  runtime: Pick<Runtime, 'captures'>;
  machines: Pick<Machines, 'change'>;
}

export class Captures {
  readonly #deps: CaptureDependencies;
  readonly #shares = new FairQueue({ ...limits.shares.captures, what: 'disks are being captured' });

  constructor(dependencies: CaptureDependencies) {
    this.#deps = dependencies;
  }

  /** Throws `failed_precondition` where disks cannot be captured. */
  assertPossible(): void {
    capturedDisks(this.#deps.runtime);
  }

  /** Throws `failed_precondition` where disks cannot be captured. */
  get disks(): CapturedDisks {
    return capturedDisks(this.#deps.runtime);
  }

  /**
   * Captures the disk of a sandbox, started, stopped or archived. Rejects with `invalid_state` for one in error, and like
   * `CapturedDisks.capture`.
   * @param before Is awaited first, in the same turn.
   */
  async take(
    { id, ownerId }: Pick<Sandbox, 'id' | 'ownerId'>,
    captureId: string,
    before: (sandbox: Sandbox) => Promise<void> = async () => {},
  ): Promise<{ sandbox: Sandbox; sizeBytes: number }> {
    const disks = this.disks;
    const done = await this.#shares.take(ownerId ?? '', 1);
    let sizeBytes = 0;
    try {
      const sandbox = await this.#deps.machines.change(id, mayBeCaptured, async (settled, signal) => {
        await before(settled);
        ({ sizeBytes } = await disks.capture(captureId, settled, { signal }));
      });
      return { sandbox, sizeBytes };
    } finally {
      done();
    }
  }

  /** Copies a captured disk beside that of a sandbox, in its turn. */
  async stage(
    { id, ownerId }: Pick<Sandbox, 'id' | 'ownerId'>,
    captureId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const done = await this.#shares.take(ownerId ?? '', 1, signal);
    try {
      await this.disks.stage(id, captureId, { signal });
    } finally {
      done();
    }
  }
}

/** Changes nothing. */
function mayBeCaptured(sandbox: Sandbox): null {
  const { state, operation } = sandbox;
  if (operation === null && state !== 'error') return null;
  const decision = decide(sandbox, { type: operation === null ? 'use' : 'start' });
  throw decision.kind === 'refused' ? decision.error : new Error('a sandbox in error is of use');
}

// Rollbacks: the disk of a sandbox put back to one of its snapshots. The sandbox is started afterwards, whatever it was before.

export interface RollbackDependencies {
  sandboxes: Pick<SandboxStore, 'find' | 'names'>;
  snapshots: Pick<SnapshotStore, 'find'>;
  captures: Captures;
  machines: Pick<Machines, 'command'>;
}

export class Rollbacks {
  readonly #deps: RollbackDependencies;

  constructor(dependencies: RollbackDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Copies the snapshot's disk while the sandbox may run, stops it, puts the copy in place of its disk, and starts it. A snapshot
   * of another sandbox is taken where it fits: of the same image, with a disk that is no larger. Rejects like a creation from the
   * snapshot, with `invalid_argument` for one that does not fit, and with `resource_exhausted` without room for the copy; the
   * sandbox is as it was then. After a later failure it is in error, with its old disk or with the snapshot's.
   */
  async rollBack(caller: User, reference: string | undefined, snapshot: string): Promise<Sandbox> {
    const { sandboxes, snapshots, captures, machines } = this.#deps;
    captures.assertPossible();
    const { id } = await resolveSandbox(sandboxes, caller, reference);
    const template = await templateOf(snapshots, caller, { snapshot, cpu: 0, memory: 0, disk: 0, gpu: 0 });
    const { captureId, wanted, resources } = template;
    if (captureId === null) throw hasNoDisk(snapshot);
    const before = async (sandbox: Sandbox, signal: AbortSignal): Promise<void> => {
      if (!('digest' in wanted) || wanted.digest !== sandbox.imageDigest)
        throw otherImage(snapshot, template.image, sandbox);
      if (resources.disk > sandbox.resources.disk) throw tooLarge(snapshot, resources.disk, sandbox);
      await captures.stage(sandbox, captureId, signal);
    };
    const { sandbox } = await machines.command(id, { type: 'rollback', captureId }, { before });
    concerns(sandbox.id);
    return sandbox;
  }
}

function hasNoDisk(snapshot: string): SandhavenError {
  return invalidArgument(
    'snapshot',
    `Snapshot '${snapshot}' is of an image, and has no files of a sandbox.`,
    'Give a snapshot that Sandbox.SnapshotSandbox has taken, or create a sandbox from this one.',
  );
}

function otherImage(snapshot: string, image: string, sandbox: Sandbox): SandhavenError {
  return invalidArgument(
    'snapshot',
    `Snapshot '${snapshot}' is of image ${image}, and sandbox '${sandbox.name}' has another version of it or ${sandbox.image}.`,
    'Create a sandbox from the snapshot instead.',
  );
}

function tooLarge(snapshot: string, diskGb: number, sandbox: Sandbox): SandhavenError {
  return invalidArgument(
    'snapshot',
    `Snapshot '${snapshot}' has a disk of ${diskGb} GB, and that of sandbox '${sandbox.name}' has ${sandbox.resources.disk} GB.`,
    'Stop the sandbox and enlarge its disk with Sandbox.ResizeSandbox, then try again.',
  );
}
