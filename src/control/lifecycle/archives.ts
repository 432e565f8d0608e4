/**
 * Archives of disks: shares of packing and restoring them, the copy that is left over afterwards, the refusals of a
 * service without a place for them, or that captures no disks, and the collector of those that no sandbox names.
 */
import { FairQueue } from '../../fairness/fair-queue.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ArchiveLocation, Sandbox } from '../../model/sandbox.ts';
import type {
  CapturedDisks,
  Log,
  RemoteArchives,
  Replicas,
  Runtime,
  SandboxPatch,
  SandboxStore,
} from '../ports/index.ts';

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

/**
 * The spare copy of a disk after an archive or a restore: the one that the row does not name any more. Among replicas
 * the operation lasts until it is dropped, since another one may begin the next operation on the copy that is left.
 */
export type Spare = 'disk' | 'archive' | null;

/** @param before The row with its operation. @param patch What settles it. */
export function spareAfter(before: Sandbox, patch: SandboxPatch): Spare {
  const { state, archive } = { ...before, ...patch };
  if (state === 'archived') return 'disk';
  const hadArchive = before.archive !== null || before.operation === 'archiving';
  return hadArchive && archive === null ? 'archive' : null;
}

/** Returns the spare copy of a row whose operation has nothing left to do but to drop it. */
export function spareLeft({
  state,
  operation,
  rollbackTo,
}: Pick<Sandbox, 'state' | 'operation' | 'rollbackTo'>): Spare {
  // A stop of a failed restore goes back to the archive.
  if ((operation === 'archiving' || operation === 'stopping') && state === 'archived') return 'disk';
  if (operation === 'archiving' && state === 'error') return 'archive';
  return operation === 'restoring' && rollbackTo === null && state === 'started' ? 'archive' : null;
}

export async function dropSpare(
  runtime: Pick<Runtime, 'dropDisk' | 'dropArchive'>,
  id: string,
  spare: Spare,
): Promise<void> {
  if (spare === 'disk') await runtime.dropDisk(id);
  if (spare === 'archive') await runtime.dropArchive(id);
}

/** The next start of the service repairs a failure here. */
export async function tryToDropSpare(
  { runtime, log }: { runtime: Pick<Runtime, 'dropDisk' | 'dropArchive'>; log: Log },
  id: string,
  spare: Spare,
): Promise<void> {
  await dropSpare(runtime, id, spare).catch((error: unknown) => {
    log.warn('a spare copy of a disk could not be dropped', { sandbox: id, error });
  });
}

/** The refusal of a service whose archives have no place. */
export function cannotArchive(): SandhavenError {
  return new SandhavenError('failed_precondition', 'Sandboxes of this service cannot be archived.', {
    hint: 'Stop the sandbox instead: its disk stays. The operator can give archives a place with --archive-store s3://…',
  });
}

/** Throws `failed_precondition` where disks cannot be captured. */
export function capturedDisks({ captures }: Pick<Runtime, 'captures'>): CapturedDisks {
  if (captures) return captures;
  throw new SandhavenError('failed_precondition', 'This service cannot capture the disks of sandboxes.', {
    hint: 'On Kubernetes it is not there yet: archive the sandbox, or keep its files elsewhere.',
  });
}

/** Removes archives outside this host that no sandbox names, of interrupted uploads and of removals that failed. */
interface ArchiveCollectorDependencies {
  store: Pick<SandboxStore, 'archives'>;
  archives: RemoteArchives;
  replicas: Pick<Replicas, 'isMine'>;
  log: Log;
}

export class ArchiveCollector {
  readonly #deps: ArchiveCollectorDependencies;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  /** By performance.now(). */
  #dueAt = 0;

  constructor(dependencies: ArchiveCollectorDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Collects as soon as the work is this replica's, then at every interval, and sooner after a failure. Looks again and
   * again: at a start each replica may take the work for another's, or for that of one that has died.
   */
  begin(): void {
    this.#timer = setInterval(() => this.#look(), limits.archives.collectLookMs);
    this.#look();
  }

  #look(): void {
    if (performance.now() >= this.#dueAt) void this.turn();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer) clearInterval(this.#timer);
    await this.#turn;
  }

  /** Collects once; a call during a collection joins it. */
  turn(): Promise<void> {
    this.#turn ??= this.#collect()
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#deps.log.warn('archives could not be collected', { error });
      })
      .finally(() => {
        this.#turn = null;
      });
    return this.#turn;
  }

  async #collect(): Promise<void> {
    const { orphanAgeMs, collectIntervalMs, collectRetryMs } = limits.archives;
    if (!this.#deps.replicas.isMine('unnamed archives')) return;
    this.#dueAt = performance.now() + collectRetryMs;
    await this.#deps.archives.collect({
      named: () => this.#named(),
      olderThanMs: orphanAgeMs,
      signal: this.#closing.signal,
    });
    this.#dueAt = performance.now() + collectIntervalMs;
  }

  /** Reads page by page: one read of all rows would hold the event loop. */
  async #named(): Promise<ArchiveLocation[]> {
    const named: ArchiveLocation[] = [];
    for (let after = ''; ; ) {
      const page = await this.#deps.store.archives(after, limits.archives.rowsAtOnce);
      named.push(...page.map(({ archive }) => archive));
      if (page.length < limits.archives.rowsAtOnce) return named;
      after = page.at(-1)?.id ?? after;
    }
  }
}
