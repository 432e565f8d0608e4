/** Finishes the operations that replicas have left which were given up. Each live replica takes its part. */
import { paged } from '../../concurrency/in-portions.ts';
import { limits } from '../../model/limits.ts';
import type { Log, Replicas, SandboxStore } from '../ports/index.ts';
import type { OtherReplicas } from '../turns/other-replicas.ts';

export interface TakeOverDependencies {
  store: Pick<SandboxStore, 'inProgress'>;
  replicas: Replicas;
  others: OtherReplicas;
  /** Repeats what fails. */
  finish(id: string): Promise<void>;
  log: Log;
}

export class TakeOver {
  readonly #deps: TakeOverDependencies;
  #timer: NodeJS.Timeout | null = null;
  readonly #finishing = new Map<string, Promise<void>>();
  /** Those of them that are archives, which take hours and may wait in line. */
  readonly #archiving = new Set<string>();
  #turn: Promise<void> | null = null;
  #closed = false;

  constructor(dependencies: TakeOverDependencies) {
    this.#deps = dependencies;
  }

  begin(): void {
    this.#deps.replicas.onChange(() => void this.turn());
    this.#timer = setInterval(() => void this.turn(), limits.replicas.takeOverMs);
  }

  /** Waits for what has begun, and begins nothing more, also when replicas come or go meanwhile. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#turn;
    await Promise.all(this.#finishing.values());
  }

  /** Looks once, and begins what is to be done; a call during a look joins it. */
  turn(): Promise<void> {
    this.#turn ??= this.#look()
      .catch((error: unknown) => this.#deps.log.warn('operations in progress could not be read', { error }))
      .finally(() => {
        this.#turn = null;
      });
    return this.#turn;
  }

  async #look(): Promise<void> {
    const { store, replicas, others } = this.#deps;
    const read = (afterId: string) => store.inProgress(afterId, limits.replicas.pageRows);
    for await (const row of paged(read)) {
      if (this.#closed || this.#finishing.size >= limits.replicas.takenOverAtOnce) return;
      if (this.#finishing.has(row.id) || !replicas.isMine(row.id) || !(await others.haveLeft(row))) continue;
      const { id, operation } = row;
      if (operation === 'archiving' && this.#archiving.size >= limits.replicas.archivesTakenOverAtOnce)
        continue;
      if (operation === 'archiving') this.#archiving.add(id);
      const finishing = this.#deps.finish(id).finally(() => {
        this.#finishing.delete(id);
        this.#archiving.delete(id);
      });
      this.#finishing.set(id, finishing);
    }
  }
}
