/** Rollbacks: the disk of a sandbox put back to one of its snapshots. The sandbox is started afterwards, whatever it was before. */
import { invalidArgument, type SandhavenError } from '../../model/errors.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import { concerns } from '../audit/scope.ts';
import type { SandboxStore, SnapshotStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Captures } from './capture.ts';
import type { Machines } from './machines.ts';
import { templateOf } from './template.ts';

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
