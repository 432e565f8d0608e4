/**
 * Performs auto-stop, auto-archive, auto-delete and the deadlines of sandboxes, puts unused ones to sleep, and repeats unfinished
 * work. Every turn reads all times from the store, so the first one handles those that passed while the service was down.
 */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { nextDeadline } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { deadlineOf, deadlineReasons, withoutPassedStop } from '../../model/sleep.ts';
import { LastTurn, type Turn } from '../base/tallies.ts';
import type {
  AgentDetached,
  AgentSessions,
  AgentTerminals,
  Clock,
  Log,
  Replicas,
  SandboxStore,
  Schedulable,
} from '../ports/index.ts';
import type { Activity } from '../turns/activity.ts';
import type { Machines } from './machines.ts';
import type { SandboxSleep } from './sleep.ts';

export interface SchedulerDependencies {
  store: Pick<SandboxStore, 'schedulable'>;
  machines: Machines;
  sleep: Pick<SandboxSleep, 'begin' | 'dueAt' | 'since'>;
  agent: Pick<
    AgentSessions & AgentTerminals & AgentDetached,
    'listSessions' | 'listTerminals' | 'listDetached'
  >;
  activity: Activity;
  canArchive(): boolean;
  replicas: Pick<Replicas, 'shared' | 'isMine'>;
  unfinished: Pick<Unfinished, 'turn'>;
  clock: Clock;
  log: Log;
  intervalMs: number;
}

type TimedCommand = 'stop' | 'archive' | 'delete' | 'sleep';

/** Settled sandboxes of all owners, as of one look. */
export interface Census {
  byState: ReadonlyMap<Sandbox['state'], number>;
  /** Started ones that are paused for want of disk. */
  paused: number;
}

/** A command whose time has come. */
interface Due {
  command: TimedCommand;
  /** Text for `state_reason`. */
  reason?: string;
  /** The sandbox's own deadline, which no use puts off. */
  isFinal?: true;
}

interface Act {
  sandbox: Schedulable;
  due: Due;
}

const RETRY_AFTER_MS = 60_000;
/** Of a turn after another one. */
const EARLIEST_TURN_MS = 500;
const STOP_REASON = 'Stopped automatically after auto_stop_minutes without activity.';

export class Scheduler {
  readonly #deps: SchedulerDependencies;
  readonly #acting = new Map<string, Act>();
  /** Time of the next try of a failed command, in ms since the epoch. */
  readonly #retryAt = new Map<string, number>();
  /** Number of looks in a row for which a command has been due. */
  #looks: ReadonlyMap<string, number> = new Map();
  /** A look waits for the store; and the number of looks that have ended. */
  #looking = false;
  #looksMade = 0;
  readonly #turns = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  /** Of a turn for a deadline that passes before the next one. */
  #early: NodeJS.Timeout | undefined;
  #census: Census | null = null;
  readonly #measured = new LastTurn();

  constructor(dependencies: SchedulerDependencies) {
    this.#deps = dependencies;
  }

  begin(): void {
    this.#timer = setInterval(() => this.#begin(), this.#deps.intervalMs);
  }

  /** A long archive in one turn delays no other: turns overlap, and `#acting` keeps them apart. */
  #begin(): void {
    const turn = this.turn().finally(() => this.#turns.delete(turn));
    this.#turns.add(turn);
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    clearTimeout(this.#early);
    await Promise.all(this.#turns);
  }

  /** Performs all commands due now, and resolves when they have ended. */
  async turn(): Promise<void> {
    await Promise.all([this.#deps.unfinished.turn(), this.#deadlines()]);
  }

  /** Returns the last look that has succeeded. */
  get lastTurn(): Turn | null {
    return this.#measured.last;
  }

  /** Returns what the last look has counted; null before the first. */
  get census(): Census | null {
    return this.#census;
  }

  async #deadlines(): Promise<void> {
    try {
      const due = await this.#look();
      await Promise.all(due.map((act) => (this.#hasShare(act) ? this.#act(act) : undefined)));
    } catch (error) {
      this.#looks = new Map();
      this.#deps.log.error('scheduler turn failed', { error });
    }
  }

  /** Returns what has been due for long enough. Turns that wait for the store together make one look. */
  async #look(): Promise<Act[]> {
    const made = this.#looksMade;
    await this.#deps.activity.flush();
    if (this.#looking || made !== this.#looksMade) return [];
    this.#looking = true;
    try {
      const settled = await this.#measured.measure(() => this.#deps.store.schedulable());
      this.#census = this.#count(settled);
      this.#turnEarly(settled);
      const acts = settled
        .filter(({ id }) => this.#deps.replicas.isMine(id) && !this.#acting.has(id) && !this.#waits(id))
        .flatMap((sandbox) => {
          const due = this.#due(sandbox);
          return due ? [{ sandbox, due }] : [];
        });
      return this.#dueLongEnough(acts);
    } finally {
      this.#looking = false;
      this.#looksMade += 1;
    }
  }

  /** A look is work for all sandboxes: many deadlines one after another share the next. */
  #turnEarly(settled: Schedulable[]): void {
    clearTimeout(this.#early);
    const now = this.#deps.clock.now();
    const ends = settled.map((sandbox) => deadlineOf(sandbox)?.at ?? Number.POSITIVE_INFINITY);
    const next = ends.reduce(
      (one, other) => (other > now && other < one ? other : one),
      Number.POSITIVE_INFINITY,
    );
    if (!this.#timer || next - now >= this.#deps.intervalMs) return;
    this.#early = setTimeout(() => this.#begin(), Math.max(next - now, EARLIEST_TURN_MS));
  }

  #count(settled: Schedulable[]): Census {
    const byState = new Map<Sandbox['state'], number>();
    let paused = 0;
    for (const { id, state } of settled) {
      byState.set(state, (byState.get(state) ?? 0) + 1);
      if (state === 'started' && this.#deps.machines.pausedReason(id) !== null) paused += 1;
    }
    return { byState, paused };
  }

  /** Returns true until the retry of a failed command. A clock that was set back delays none. */
  #waits(id: string): boolean {
    const left = (this.#retryAt.get(id) ?? 0) - this.#deps.clock.now();
    return left > 0 && left <= RETRY_AFTER_MS;
  }

  /**
   * Among replicas they have been due at some looks in a row: a replica whose clock was set, or that could not write for a
   * while, may not have stored a use yet. A use does not count against a deadline.
   */
  #dueLongEnough(acts: Act[]): Act[] {
    if (!this.#deps.replicas.shared) return acts;
    const looks = new Map(acts.map(({ sandbox: { id } }) => [id, (this.#looks.get(id) ?? 0) + 1]));
    this.#looks = looks;
    const enough = limits.replicas.looksUntilDue;
    return acts.filter(({ sandbox: { id }, due }) => due.isFinal || (looks.get(id) ?? 0) >= enough);
  }

  /**
   * Returns false for an archive that would wait in the line of its owner's: its sandbox could meanwhile not be started. It
   * is due again at the next turn.
   */
  #hasShare({ sandbox, due }: Act): boolean {
    if (due.command !== 'archive') return true;
    const archiving = [...this.#acting.values()].filter((act) => act.due.command === 'archive');
    const own = archiving.filter((act) => act.sandbox.ownerId === sandbox.ownerId);
    const { total, perOwner } = limits.shares.archives;
    return archiving.length < total && own.length < perOwner;
  }

  /** Returns the command due for the sandbox. */
  #due(sandbox: Schedulable): Due | null {
    const { activity, clock } = this.#deps;
    const end = deadlineOf(sandbox);
    if (end && end.at <= clock.now()) {
      const reason = end.action === 'sleep' ? {} : { reason: deadlineReasons[end.action] };
      return { command: end.action, ...reason, isFinal: true };
    }
    if (activity.uses(sandbox.id) > 0) return null;
    const lastActivityAt = activity.last(sandbox.id, sandbox.lastActivityAt);
    // Where nothing can be archived, a stopped sandbox has the deadlines of an archived one.
    const state = sandbox.state === 'stopped' && !this.#deps.canArchive() ? 'archived' : sandbox.state;
    const next = nextDeadline({ ...sandbox, state, lastActivityAt });
    if (next && next.at <= clock.now())
      return { command: next.command, ...(next.command === 'stop' ? { reason: STOP_REASON } : {}) };
    const sleepsAt = this.#deps.sleep.dueAt({ ...sandbox, lastActivityAt });
    return sleepsAt !== null && sleepsAt <= clock.now() ? { command: 'sleep' } : null;
  }

  /**
   * Records commands of sessions, programs in the foreground of terminals and processes that run as activity. Only the
   * agent knows them: they outlive calls, and this process. An agent that does not answer runs none.
   */
  async #noteWorkInside(id: string): Promise<void> {
    const { agent, activity, clock } = this.#deps;
    const options = { timeoutMs: limits.session.busyMs };
    const places = [
      agent.listSessions(id, options),
      agent.listTerminals(id, options),
      agent.listDetached(id, options),
    ];
    for (const place of await Promise.allSettled(places)) {
      if (place.status === 'rejected') continue;
      const { busy, idleMs } = place.value;
      if (busy) activity.note(id, clock.now());
      else if (idleMs !== null) activity.note(id, clock.now() - idleMs);
    }
  }

  /** Removes a deadline once it has put the sandbox to sleep: one that is killed in between does so again. */
  async #sleep(
    id: string,
    { stillWanted, isFinal }: { stillWanted(sandbox: Sandbox): boolean; isFinal: boolean },
  ): Promise<void> {
    const { sleep, machines, clock } = this.#deps;
    await sleep.begin(id, { stillWanted, closes: isFinal });
    const removed = (sandbox: Sandbox) => withoutPassedStop(sandbox, clock.now());
    if (isFinal)
      await machines.change(id, (sandbox) => ('deadline' in removed(sandbox) ? { deadline: null } : null));
  }

  async #act(act: Act): Promise<void> {
    const { sandbox, due } = act;
    const { command, reason, isFinal } = due;
    const { id } = sandbox;
    this.#acting.set(id, act);
    try {
      const isIdle = (command === 'stop' || command === 'sleep') && !isFinal;
      // Nothing works in one that sleeps, and the question would wake it.
      if (isIdle && this.#deps.sleep.since(id) === null) {
        await this.#noteWorkInside(id);
        if (this.#due(sandbox)?.command !== command) return;
      }
      this.#deps.log.info('acting on a deadline', { sandbox: id, command });
      const stillWanted = (sandbox: Sandbox) => this.#due(sandbox)?.command === command;
      if (command === 'sleep') await this.#sleep(id, { stillWanted, isFinal: isFinal === true });
      else {
        const options = { stillWanted, ...(reason === undefined ? {} : { reason }) };
        await this.#deps.machines.command(id, { type: command }, options);
      }
      this.#retryAt.delete(id);
    } catch (error) {
      this.#retryAt.set(id, this.#deps.clock.now() + RETRY_AFTER_MS);
      this.#deps.log.error('deadline could not be acted on', { sandbox: id, command, error });
    } finally {
      this.#acting.delete(id);
    }
  }
}
