/**
 * Shares of the packing of disks into archives, and of their restores. Both take a disk's whole length of reading and
 * writing from all who share the host, the network or the place of archives. They have lines of their own, since somebody
 * waits for a restore, and for an archive often nobody.
 */
import { FairQueue } from '../../fairness/fair-queue.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';

export class DiskCopies {
  readonly #archives = new FairQueue({ ...limits.shares.archives, what: 'archives are being written' });
  readonly #restores = new FairQueue({ ...limits.shares.restores, what: 'disks are being restored' });

  /**
   * Waits for the owner's turn, then archives. Rejects with `resource_exhausted` before the work, after too long a wait
   * or when too much of the owner waits; with the signal's reason when it is aborted before.
   */
  archive<T>(of: Pick<Sandbox, 'ownerId'>, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return inTurn(this.#archives, of, work, signal);
  }

  /** Like `archive`, for a restore. */
  restore<T>(of: Pick<Sandbox, 'ownerId'>, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return inTurn(this.#restores, of, work, signal);
  }
}

async function inTurn<T>(
  queue: FairQueue,
  { ownerId }: Pick<Sandbox, 'ownerId'>,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const done = await queue.take(ownerId ?? '', 1, signal);
  try {
    return await work();
  } finally {
    done();
  }
}
