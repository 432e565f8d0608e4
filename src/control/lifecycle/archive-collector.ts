/** Removes archives outside this host that no sandbox names, of interrupted uploads and of removals that failed. */
import { limits } from '../../model/limits.ts';
import type { ArchiveLocation } from '../../model/sandbox.ts';
import type { Log, RemoteArchives, Replicas, SandboxStore } from '../ports/index.ts';

export interface ArchiveCollectorDependencies {
  store: Pick<SandboxStore, 'archives'>;
  archives: RemoteArchives;
  replicas: Pick<Replicas, 'isMine'>;
  log: Log;
}

export class ArchiveCollector {
  readonly #d: ArchiveCollectorDependencies;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  /** By performance.now(). */
  #dueAt = 0;

  constructor(dependencies: ArchiveCollectorDependencies) {
    this.#d = dependencies;
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
        if (!this.#closing.signal.aborted) this.#d.log.warn('archives could not be collected', { error });
      })
      .finally(() => {
        this.#turn = null;
      });
    return this.#turn;
  }

  async #collect(): Promise<void> {
    const { orphanAgeMs, collectIntervalMs, collectRetryMs } = limits.archives;
    if (!this.#d.replicas.isMine('unnamed archives')) return;
    this.#dueAt = performance.now() + collectRetryMs;
    await this.#d.archives.collect({
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
      const page = await this.#d.store.archives(after, limits.archives.rowsAtOnce);
      named.push(...page.map(({ archive }) => archive));
      if (page.length < limits.archives.rowsAtOnce) return named;
      after = page.at(-1)?.id ?? after;
    }
  }
}
