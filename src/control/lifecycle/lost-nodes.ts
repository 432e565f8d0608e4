/**
 * Looks after sandboxes whose nodes do not answer. After a while they are in error; their machines may still run, so nothing
 * starts in their place before the cluster knows that they have ended. When the node is back, its old machines are ended.
 */
import { paged } from '../../concurrency/in-portions.ts';
import { deletedByStop } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import { isLost, type NodeLoss } from '../../model/lost-node.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { AwayMachines } from '../base/away-machines.ts';
import type { Log, Observed, Replicas, Runtime, SandboxStore } from '../ports/index.ts';
import type { Machines } from './machines.ts';

export interface LostNodesDependencies {
  nodeLoss: NodeLoss;
  away: AwayMachines;
  store: Pick<SandboxStore, 'comparable' | 'reread' | 'pool'>;
  runtime: Pick<Runtime, 'observe'>;
  machines: Pick<Machines, 'unreachable' | 'end' | 'command' | 'retire'>;
  replicas: Pick<Replicas, 'isMine'>;
  log: Log;
}

const { lookMs, looksUntilSearch, looksUntilRetry, atOnce } = limits.nodeLoss;

export class LostNodes {
  readonly #deps: LostNodesDependencies;
  readonly #looksUntilLost: number;
  /** Sandboxes that may be in error because of a node. */
  readonly #lost = new Set<string>();
  readonly #acting = new Set<string>();
  /** Looks until the next try of what has failed. */
  readonly #pauses = new Map<string, number>();
  #looks = 0;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;

  constructor(dependencies: LostNodesDependencies) {
    this.#deps = dependencies;
    this.#looksUntilLost = 1 + Math.ceil(dependencies.nodeLoss.afterMs / lookMs);
  }

  begin(): void {
    this.#timer = setInterval(() => void this.turn(), lookMs);
  }

  /** Leaves to the queue of operations what is under way. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#turn;
  }

  /** Looks once, and begins what is to be done; a call during a look joins it. */
  turn(): Promise<void> {
    this.#turn ??= this.#look()
      .catch((error: unknown) => this.#deps.log.warn('lost nodes could not be looked for', { error }))
      .finally(() => {
        this.#turn = null;
      });
    return this.#turn;
  }

  async #look(): Promise<void> {
    const { runtime, away, machines } = this.#deps;
    const observed = new Map((await runtime.observe()).map((seen) => [seen.id, seen]));
    away.look(observed.values());
    await this.#retirePooled();
    if (this.#looks++ % looksUntilSearch === 0) await this.#search();
    for (const { id, generation } of away.awayFor(this.#looksUntilLost))
      this.#act(id, async () => {
        if (!(await machines.unreachable(id, generation))) return;
        away.settled(id, generation);
        this.#lost.add(id);
      });
    // The end of a machine may have been seen by its watch alone.
    for (const id of away.seenAgain()) this.#lost.add(id);
    for (const id of this.#lost) {
      const seen = observed.get(id);
      if (!seen?.unreachable) this.#act(id, () => this.#goOn(id, seen));
    }
  }

  /** Takes sandboxes out of the warm pool as soon as their node is away: a caller would get one that does not answer. */
  async #retirePooled(): Promise<void> {
    const { store, away, machines } = this.#deps;
    const generations = new Map(away.awayFor(1).map(({ id, generation }) => [id, generation]));
    if (generations.size === 0) return;
    for (const { id, runGeneration } of await store.pool())
      if (generations.get(id) === runGeneration) this.#act(id, () => machines.retire(id));
  }

  /** Finds those that another process has put in error. */
  async #search(): Promise<void> {
    const { store } = this.#deps;
    const found: string[] = [];
    for await (const row of paged((afterId) => store.comparable(afterId, limits.replicas.pageRows)))
      if (isLost(row)) found.push(row.id);
    this.#lost.clear();
    for (const id of found) this.#lost.add(id);
  }

  /** Goes on with a sandbox in error whose node is back or gone. */
  async #goOn(id: string, seen: Observed | undefined): Promise<void> {
    const { store, machines, nodeLoss, log } = this.#deps;
    const sandbox = await store.reread(id);
    if (!sandbox || !isLost(sandbox)) return void this.#lost.delete(id);
    // The node may be back with its machines.
    if (seen && seen.runningGeneration !== null) return machines.end(id);
    const endsWithIt = (row: Sandbox) => isLost(row) && deletedByStop(row);
    if (endsWithIt(sandbox)) {
      await machines.command(id, { type: 'delete' }, { stillWanted: endsWithIt });
      return;
    }
    if (!nodeLoss.restarts) return void this.#lost.delete(id);
    log.info('starting a sandbox again whose node is lost', { sandbox: id });
    await machines.command(id, { type: 'start' }, { stillWanted: isLost });
  }

  /** Begins work on a sandbox of this replica, unless it is under way, waits, or has to. */
  #act(id: string, work: () => Promise<void>): void {
    const { replicas, log } = this.#deps;
    if (!replicas.isMine(id) || this.#acting.has(id) || this.#acting.size >= atOnce || this.#waits(id))
      return;
    this.#acting.add(id);
    void work()
      .catch((error: unknown) => {
        this.#pauses.set(id, looksUntilRetry);
        log.warn('a sandbox of a lost node stays as it is', { sandbox: id, error });
      })
      .finally(() => this.#acting.delete(id));
  }

  #waits(id: string): boolean {
    const left = (this.#pauses.get(id) ?? 0) - 1;
    if (left <= 0) this.#pauses.delete(id);
    else this.#pauses.set(id, left);
    return left > 0;
  }
}
