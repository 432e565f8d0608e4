/**
 * Compares the store with the machines, again and again, while several replicas change both. What one look finds may be
 * the work of another replica, seen in the midst; what two looks find, an interval apart, is acted on, in the sandbox's
 * turn. A look in between, since replicas have come or gone, only takes over what is to be watched.
 */
import { mapBounded, paged } from '../../concurrency/in-portions.ts';
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { limits } from '../../model/limits.ts';
import { LastTurn, type Turn } from '../base/tallies.ts';
import { underLease } from '../base/tenure.ts';
import type { Machines } from '../lifecycle/machines.ts';
import type { Watches } from '../lifecycle/watches.ts';
import type { Comparable, Log, Observed, Replicas, Runtime, SandboxStore } from '../ports/index.ts';

export interface ComparisonDependencies {
  store: Pick<SandboxStore, 'comparable'>;
  runtime: Pick<Runtime, 'observe' | 'destroy'>;
  machines: Pick<Machines, 'adopt' | 'exited' | 'end' | 'retire'>;
  watches: Pick<Watches, 'has' | 'end'>;
  replicas: Replicas;
  unfinished: Unfinished;
  log: Log;
  /** Returns true for a warm pool sandbox that is still usable. */
  keepsInPool(sandbox: Comparable): boolean;
  /** Called at each look. */
  onLook(): Promise<void>;
}

/** Faults by a name that is the same at the next look, each with its repair. */
type Findings = Map<string, () => Promise<void>>;

const GONE_REASON = 'Its machine ended while no replica watched it.';

export class Comparison {
  readonly #deps: ComparisonDependencies;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  /** Findings of the last look of the interval that every look since has found too. */
  #before: ReadonlySet<string> = new Set();
  #closed = false;
  readonly #measured = new LastTurn();

  constructor(dependencies: ComparisonDependencies) {
    this.#deps = dependencies;
  }

  /** Looks now, at every interval, and when replicas have come or gone. */
  begin(): void {
    this.#deps.replicas.onChange(() => void this.turn('between'));
    this.#timer = setInterval(() => void this.turn('interval'), limits.replicas.compareMs);
    void this.turn('interval');
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#turn;
  }

  /** Looks once; a call during a look joins it. */
  async turn(when: 'interval' | 'between'): Promise<void> {
    if (this.#closed) return;
    this.#turn ??= this.#measured
      .measure(() => this.#look(when))
      .catch((error: unknown) => this.#deps.log.warn('machines could not be compared', { error }))
      .finally(() => {
        this.#turn = null;
      });
    await this.#turn;
  }

  /** Returns the last look that has ended. */
  get lastTurn(): Turn | null {
    return this.#measured.last;
  }

  async #look(when: 'interval' | 'between'): Promise<void> {
    const { store, runtime, replicas } = this.#deps;
    await this.#deps.onLook();
    // A machine without a row that is read later is nobody's; a row is always there before its machine.
    const observed = new Map((await runtime.observe()).map((seen) => [seen.id, seen]));
    const findings: Findings = new Map();
    const known = new Set<string>();
    const mine: Comparable[] = [];
    for await (const sandbox of paged((afterId) => store.comparable(afterId, limits.replicas.pageRows))) {
      if (replicas.isMine(sandbox.id)) mine.push(sandbox);
      else this.#deps.watches.end(sandbox.id);
      known.add(sandbox.id);
    }
    // An agent that does not answer holds up one of them.
    await mapBounded(mine, limits.replicas.comparedAtOnce, (sandbox) =>
      this.#compare(sandbox, observed.get(sandbox.id) ?? null, findings),
    );
    for (const id of known) observed.delete(id);
    for (const id of observed.keys()) if (replicas.isMine(id)) this.#orphan(id, findings);
    const again = [...findings].filter(([name]) => this.#before.has(name));
    if (when === 'between') {
      this.#before = new Set(again.map(([name]) => name));
      return;
    }
    this.#before = new Set(findings.keys());
    await mapBounded(again, limits.replicas.comparedAtOnce, ([name, mend]) => {
      this.#deps.log.warn('store and machines differ', { finding: name });
      return mend();
    });
  }

  async #compare(sandbox: Comparable, seen: Observed | null, findings: Findings): Promise<void> {
    const { machines, watches, log, keepsInPool } = this.#deps;
    const { id, state, runGeneration } = sandbox;
    if (sandbox.operation !== null) return;
    if (sandbox.ownerId === null && !keepsInPool(sandbox)) return void machines.retire(id);
    const running = seen?.runningGeneration ?? null;
    if (state !== 'started') {
      // One on a node that does not answer is ended when the node is back.
      if (running !== null && !seen?.unreachable)
        findings.set(`${id} runs at ${running}`, () => machines.end(id));
      return;
    }
    if (running !== runGeneration && runGeneration !== null) {
      findings.set(`${id} is lost at ${runGeneration}`, () =>
        machines.exited(id, runGeneration, GONE_REASON),
      );
    } else if (!watches.has(id)) {
      await machines.adopt(sandbox).catch((error: unknown) => {
        log.warn('a sandbox does not answer', { sandbox: id, error });
      });
    }
  }

  #orphan(id: string, findings: Findings): void {
    const { runtime, replicas, unfinished } = this.#deps;
    findings.set(`${id} has no row`, () =>
      unfinished.attempt(`remove ${id}`, () => underLease(replicas, () => runtime.destroy(id))),
    );
  }
}
