/** Captures of sandboxes' disks, each in its sandbox's turn and in its owner's share. */
import { FairQueue } from '../../fairness/fair-queue.ts';
import { decide } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { CapturedDisks, Runtime } from '../ports/index.ts';
import { capturedDisks } from './archives.ts';
import type { Machines } from './machines.ts';

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
