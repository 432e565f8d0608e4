/** What callers have been promised: sandboxes that exist until somebody ends them, files, and answers under a key. */
import type { Sandbox } from '../../src/model/sandbox.ts';
import { Violation } from './violation.ts';

interface Promised {
  /** Rollbacks so far, and those that were not answered: each changes the files at some time until its answer. */
  rollbacks: number;
  openRollbacks: number;
  /** true: somebody, or a setting, may have ended it. */
  mayEnd: boolean;
  /** Names of files whose writing was acknowledged. */
  files: Set<string>;
  /** The last acknowledged use. A process that is killed may take with it what it has not stored yet. */
  use: Use | null;
}

interface Use {
  /** By the wall clock, in ms since the epoch. */
  at: number;
  /** By the monotonic clock, in ms. */
  elapsedMs: number;
}

type Answer = Pick<Sandbox, 'id' | 'createdAt'>;

const NO_ROLLBACKS = { rollbacks: 0, openRollbacks: 0 };
const DAY_MS = 24 * 60 * 60 * 1000;
/** The wall clock may have been set back by so much. */
const SET_BACK_MS = 2 * 60 * 60 * 1000;

export class Expectations {
  readonly #sandboxes = new Map<string, Promised>();
  readonly #answers = new Map<string, Answer>();
  /** Sandboxes of calls that move a deadline, until the look after their answers. */
  readonly #moves = new Map<Promise<unknown>, string>();
  readonly #answered = new Set<Promise<unknown>>();

  created(id: string, mayEnd: boolean): void {
    const known = this.#sandboxes.get(id);
    if (known) known.mayEnd ||= mayEnd;
    else this.#sandboxes.set(id, { mayEnd, files: new Set(), use: null, ...NO_ROLLBACKS });
  }

  /** For a request that may end the sandbox, whether or not it succeeds. */
  mayEnd(id: string): void {
    this.created(id, true);
  }

  /** Two writes may come in one step: what a call changes of a deadline, and what the lifecycle does next. */
  async movesDeadline(id: string, call: Promise<unknown>): Promise<void> {
    this.#moves.set(call, id);
    await call.finally(() => this.#answered.add(call));
  }

  deadlineMoves(id: string): boolean {
    return [...this.#moves.values()].includes(id);
  }

  /** All that has changed was looked at. */
  looked(): void {
    for (const call of this.#answered) this.#moves.delete(call);
    this.#answered.clear();
  }

  written(id: string, path: string): void {
    this.#sandboxes.get(id)?.files.add(path);
  }

  /**
   * Returns a question for later: whether its files can only be those that were there, and those written, since now. After a
   * rollback, or beside one, they may be others.
   */
  unmoved(id: string): () => boolean {
    const promised = this.#sandboxes.get(id);
    const { rollbacks = 0, openRollbacks = 0 } = promised ?? {};
    return () => openRollbacks === 0 && promised?.rollbacks === rollbacks;
  }

  /** A rollback begins: until its answer, the files are the old ones or those of the snapshot. Returns what ends it. */
  rollsBack(id: string, snapshotId: string): { done(): void; broken(): void } {
    const promised = this.#sandboxes.get(id);
    if (!promised) return { done() {}, broken() {} };
    const wanted = new Set(this.filesOf(snapshotId));
    const mine = ++promised.rollbacks;
    promised.openRollbacks++;
    promised.files = new Set([...promised.files].filter((path) => wanted.has(path)));
    return {
      done() {
        promised.openRollbacks--;
        if (promised.rollbacks === mine && promised.openRollbacks === 0) promised.files = wanted;
      },
      broken() {
        promised.openRollbacks--;
      },
    };
  }

  /** A snapshot has the files that its sandbox had. */
  captured(snapshotId: string, files: Iterable<string>): void {
    this.#sandboxes.set(snapshotId, { mayEnd: true, files: new Set(files), use: null, ...NO_ROLLBACKS });
  }

  used(id: string, use: Use): void {
    const promised = this.#sandboxes.get(id);
    if (promised) promised.use = use;
  }

  /** Returns the time of the last use by the wall clock; null where none has to be known. */
  lastUse(id: string): number | null {
    return this.#sandboxes.get(id)?.use?.at ?? null;
  }

  /** Begins anew: a start is later than any use before it, whatever the wall clock says. */
  stopped(id: string): void {
    const promised = this.#sandboxes.get(id);
    if (promised) promised.use = null;
  }

  /** Excuses a new process from knowing uses after `storedUntilMs` of the monotonic clock. */
  killed(storedUntilMs: number): void {
    for (const promised of this.#sandboxes.values()) {
      if ((promised.use?.elapsedMs ?? 0) > storedUntilMs) promised.use = null;
    }
  }

  filesOf(id: string): ReadonlySet<string> {
    return this.#sandboxes.get(id)?.files ?? new Set();
  }

  /** Whether nothing may end it. */
  lasts(id: string): boolean {
    return this.#sandboxes.get(id)?.mayEnd === false;
  }

  /** A power cut may bring its row back, and a key its answer: it may still end. */
  ended(id: string): void {
    this.#sandboxes.set(id, { mayEnd: true, files: new Set(), use: null, ...NO_ROLLBACKS });
  }

  /** One key makes one sandbox for a day, unless somebody ended it. */
  answered(key: string, { id, createdAt }: Answer, now: number): void {
    const before = this.#answers.get(key);
    this.#answers.set(key, { id, createdAt });
    if (!before || before.id === id || now - before.createdAt >= DAY_MS - SET_BACK_MS) return;
    const ended = this.#sandboxes.get(before.id)?.mayEnd ?? true;
    if (!ended) throw new Violation(`key ${key} made ${before.id}, and then ${id}`);
  }
}
