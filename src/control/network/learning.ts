/**
 * Learning of network rules: for a while a sandbox has all that the ceilings allow, and what it uses becomes the
 * rules that would allow it.
 *
 * Invariant: what is set for the sandbox stays as it is. Learning is known to this process alone, so however it ends, what
 * is set is in force afterwards; a kill of the process leaves the machine with less until the next one starts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { ruleFor, type WiderRule, widerRules } from '../../model/network/suggestion.ts';
import { isDropped, type NetworkReport } from '../../model/network/traffic.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Clock, SandboxStore } from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Turns } from '../turns/turns.ts';

export interface Learned {
  sandboxId: string;
  /** null once it has ended. */
  until: number | null;
  /** Rules for exactly what was used, in the order of first use. */
  rules: string[];
  wider: WiderRule[];
  /** Number of events, or of rules, that were too many to be kept: rules may be missing. */
  missing: number;
}

export interface LearningDependencies {
  store: SandboxStore;
  machines: Pick<Turns, 'change'>;
  networks: Pick<Networks, 'assertPolicies' | 'assertLearnable' | 'learn' | 'learnsUntil' | 'apply'>;
  unfinished: Pick<Unfinished, 'attempt'>;
  clock: Clock;
}

interface Learner {
  owner: string;
  rules: Set<string>;
  missing: number;
  /** Nothing that is used later counts; milliseconds since the epoch. */
  endedAt: number;
  /** Ends it, and later forgets it. */
  timer: ReturnType<typeof setTimeout>;
}

const { learnedRules, learners, learnedKeptMs, learnSettleMs } = limits.network;
const TIMER_SLACK_MS = 1_000;

export class Learning {
  readonly #deps: LearningDependencies;
  /** The one that was asked for last comes last. */
  readonly #learners = new Map<string, Learner>();

  constructor(dependencies: LearningDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Begins, or goes on until the new end with what it has learned. Rejects with `failed_precondition` without policies and
   * under a ceiling of none, with `resource_exhausted` while too many learn, and with `unavailable` as a change does.
   */
  async start(caller: User, reference: string, minutes: number): Promise<Learned> {
    const { networks, store, clock } = this.#deps;
    networks.assertPolicies();
    const { id, ownerId } = await resolveSandbox(store, caller, reference);
    await networks.assertLearnable(ownerId);
    const known = this.#learners.get(id);
    if (!known) this.#makeRoom(ownerIdOf(caller));
    const durationMs = minutes * 60_000;
    networks.learn(id, clock.now() + durationMs);
    clearTimeout(known?.timer);
    const { rules, missing } = known ?? { rules: new Set<string>(), missing: 0 };
    const timer = setTimeout(() => void this.#expire(id), durationMs);
    this.#learners.delete(id);
    const endedAt = Number.POSITIVE_INFINITY;
    this.#learners.set(id, { owner: ownerIdOf(caller), rules, missing, endedAt, timer });
    await this.#inTurn(id, (sandbox) => networks.apply(sandbox));
    return this.#learned(id);
  }

  /** Ends it, puts what is set in force, and returns what was learned; also a while after it has ended by itself. */
  async stop(caller: User, reference: string): Promise<Learned> {
    const { networks, store } = this.#deps;
    networks.assertPolicies();
    const { id } = await resolveSandbox(store, caller, reference);
    if (!this.#learners.has(id)) throw neverBegan();
    if (networks.learnsUntil(id) !== null) {
      await this.#applySet(id);
      await sleep(learnSettleMs);
    }
    return this.#learned(id);
  }

  /** Ends it, with the policy that is put in force next: in the sandbox's turn, right before that. */
  end(id: string): void {
    const learner = this.#learners.get(id);
    if (!learner || this.#deps.networks.learnsUntil(id) === null) return;
    this.#deps.networks.learn(id, null);
    learner.endedAt = this.#deps.clock.now();
    clearTimeout(learner.timer);
    learner.timer = setTimeout(() => this.#learners.delete(id), learnedKeptMs).unref();
  }

  hear(reports: readonly NetworkReport[]): void {
    if (this.#learners.size === 0) return;
    for (const report of reports) {
      const learner = this.#learners.get(report.sandbox);
      if (!learner) continue;
      if (isDropped(report)) learner.missing += report.dropped;
      else if (report.at <= learner.endedAt) note(learner, ruleFor(report));
    }
  }

  close(): void {
    for (const { timer } of this.#learners.values()) clearTimeout(timer);
    this.#learners.clear();
  }

  /** One that has ended makes room: the owner's first, then anybody's. */
  #makeRoom(owner: string): void {
    const isOver = (id: string) => this.#deps.networks.learnsUntil(id) === null;
    const own = [...this.#learners].filter(([, learner]) => learner.owner === owner).map(([id]) => id);
    const isOwnFull = own.length >= learners.perOwner;
    if (!isOwnFull && this.#learners.size < learners.total) return;
    const over = (isOwnFull ? own : [...this.#learners.keys()]).find(isOver);
    if (over === undefined) throw tooMany();
    clearTimeout(this.#learners.get(over)?.timer);
    this.#learners.delete(over);
  }

  #expire(id: string): Promise<void> {
    const { unfinished, networks, clock } = this.#deps;
    return unfinished.attempt(`end learning of ${id}`, async () => {
      // It may have begun again meanwhile. A timer may be a little early.
      if ((networks.learnsUntil(id) ?? 0) > clock.now() + TIMER_SLACK_MS) return;
      await this.#applySet(id).catch((error: unknown) => {
        const isGone = error instanceof SandhavenError && error.code === 'not_found';
        if (!isGone) throw error;
        this.end(id);
      });
    });
  }

  #applySet(id: string): Promise<void> {
    return this.#inTurn(id, (sandbox) => {
      this.end(id);
      return this.#deps.networks.apply(sandbox);
    });
  }

  async #inTurn(id: string, work: (sandbox: Sandbox) => Promise<void>): Promise<void> {
    await this.#deps.machines.change(id, () => null, work);
  }

  async #learned(sandboxId: string): Promise<Learned> {
    const { rules, missing } = this.#learners.get(sandboxId) ?? { rules: [], missing: 0 };
    const until = this.#deps.networks.learnsUntil(sandboxId);
    return { sandboxId, until, rules: [...rules], wider: await widerRules([...rules]), missing };
  }
}

function note(learner: Learner, rule: string | null): void {
  if (rule === null || learner.rules.has(rule)) return;
  if (learner.rules.size < learnedRules) learner.rules.add(rule);
  else learner.missing += 1;
}

function neverBegan(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The sandbox does not learn, and nothing is kept of before.',
    {
      hint: 'Call LearnNetwork without stop first. A restart of the service ends learning.',
    },
  );
}

function tooMany(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'Too many sandboxes learn network rules already.', {
    hint: 'Stop some of them, or wait until they end.',
    retryable: true,
  });
}
