/**
 * Audit log of the service. Surfaces record calls and their outcomes, admins and members read rows, and any caller who
 * may read all of them may verify the log.
 */
import { InProgress } from '../../concurrency/closing.ts';
import {
  type AuditEvent,
  type AuditOutcome,
  type AuditTransport,
  auditActions,
  serviceEvent,
} from '../../model/audit.ts';
import { SandhavenError } from '../../model/errors.ts';
import { isTeamId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { AuditCheckpoint, AuditStore, Clock, Log, Replicas } from '../ports/index.ts';
import { AuditChain } from './chain.ts';
import { type AuditScope, inScope } from './scope.ts';
import { type AuditPage, type AuditQuery, searchAudit } from './search.ts';
import { type AuditReport, pruneAudit, verifyAudit } from './verification.ts';
import { AuditWriter } from './writer.ts';

/** Transport and client address of a call. */
export interface Origin {
  transport: AuditTransport;
  /** null: unknown. */
  address: string | null;
}

/** Facts about a call that are known once it has ended. */
type Ending = Pick<AuditEvent, 'outcome' | 'durationMs' | 'sandboxId'> & Partial<Pick<AuditScope, 'userId'>>;

/** Facts about a call that are known before it runs. */
export interface AuditSubject {
  action: string;
  caller: { id: string | null; keyId: string | null; keyMadeBy?: string; team?: { id: string } };
  origin: Origin;
  requestId: string | null;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal;
}

type CallListener = (action: string, outcome: AuditOutcome, durationMs: number) => void;

export interface AuditDependencies {
  store: AuditStore;
  checkpoint: AuditCheckpoint;
  /** Secret, and unchanged for the lifetime of the data directory. */
  key: Buffer;
  clock: Clock;
  log: Log;
  /** Retention of rows; 0 keeps them for good. */
  keptMs: number;
  /** Others that write the same log; none by default. */
  replicas?: Pick<Replicas, 'shared' | 'isMine'>;
}

export class AuditService {
  readonly #deps: AuditDependencies;
  readonly #chain: AuditChain;
  readonly #writer: AuditWriter;
  /** The longest wait for a row between two looks. */
  readonly #lookMs: number;
  /** Set while the log is open. */
  #timer: NodeJS.Timeout | null = null;
  /** Calls in progress, as what writes the row of one before its end. */
  readonly #calls = new InProgress<() => void>();
  /** Admits one walk of the whole chain at a time, and none while pruning moves its beginning. */
  #walk: Promise<unknown> | null = null;
  #onCall: CallListener = () => {};
  #lastReport: AuditReport | null = null;

  constructor(dependencies: AuditDependencies) {
    this.#deps = dependencies;
    // Rows of other replicas come without a word.
    this.#lookMs = dependencies.replicas?.shared ? limits.replicas.lookAgainMs : Number.POSITIVE_INFINITY;
    this.#chain = new AuditChain(dependencies.key);
    const isShared = dependencies.replicas?.shared ?? false;
    this.#writer = new AuditWriter({ ...dependencies, chain: this.#chain, isShared });
  }

  /** Returns the time by the log's clock. */
  now(): number {
    return this.#deps.clock.now();
  }

  /** Calls the listener at the end of each call, before its row is written. One listener is enough. */
  onCall(listener: CallListener): void {
    this.#onCall = listener;
  }

  /** Returns the report of the last verification in this process; null before the first. */
  get lastReport(): AuditReport | null {
    return this.#lastReport;
  }

  async open(): Promise<void> {
    await this.#writer.open();
    this.#writer.add(serviceEvent(auditActions.serviceStart));
    this.#timer = setInterval(() => void this.prune(), limits.audit.pruneIntervalMs);
    this.#timer.unref();
    void this.prune();
  }

  /** Gives calls that go on a last moment to end; those that do not end have their rows all the same. */
  async close(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.#walk?.catch(() => {});
    for (const cutOff of await this.#calls.endOfThese(limits.lastCallsMs)) cutOff();
    this.#writer.add(serviceEvent(auditActions.serviceStop));
    await this.#writer.close();
  }

  /**
   * Runs a call and records it once it has ended.
   * @param fault Returns the outcome where `work` itself does not fail: null for success.
   */
  async call<T>(
    subject: AuditSubject,
    work: () => Promise<T>,
    fault: () => AuditOutcome | null = () => null,
  ): Promise<T> {
    const begun = performance.now();
    const scope: AuditScope = { sandboxId: null, userId: null };
    const note = (outcome: AuditOutcome) => {
      const durationMs = performance.now() - begun;
      this.#onCall(subject.action, outcome, durationMs);
      this.note(subject, { outcome, durationMs, ...scope });
    };
    return this.#noted(note, subject, () => inScope(scope, work), fault);
  }

  /**
   * Runs work that lasts. Records a row when `work` reports its beginning, and a second one, `closing`, at its end.
   * Work that never begins gets one row, with the reason.
   */
  async visit<T>(
    subject: AuditSubject,
    closing: string,
    work: (begun: () => void) => Promise<T>,
  ): Promise<T> {
    const since = performance.now();
    let action = subject.action;
    const scope: AuditScope = { sandboxId: null, userId: null };
    const note = (outcome: AuditOutcome) =>
      this.note({ ...subject, action }, { outcome, durationMs: performance.now() - since, ...scope });
    const begun = () => {
      note('ok');
      action = closing;
    };
    return this.#noted(note, subject, () => inScope(scope, () => work(begun)));
  }

  /** Returns at once: writing never takes a caller's time. */
  note({ action, caller: called, origin, requestId }: AuditSubject, ending: Ending): void {
    // By a token of a team's sandbox, which names no person.
    const caller =
      called.id !== null && isTeamId(called.id) ? { ...called, id: null, team: { id: called.id } } : called;
    const { outcome, durationMs, sandboxId, userId } = ending;
    const about = caller.team?.id ?? (userId === caller.id ? null : userId);
    this.#writer.add({
      ...{ action, outcome, sandboxId, requestId, count: null },
      ...{ transport: origin.transport, clientAddress: origin.address },
      ...{ userId: caller.id, keyId: caller.keyId },
      ...(about ? { teamId: about } : {}),
      ...(caller.keyMadeBy === undefined ? {} : { madeBy: caller.keyMadeBy }),
      durationMs: Math.round(durationMs * 10) / 10,
    });
  }

  /**
   * Returns rows that include every event recorded before the call. Waits up to `waitMs` for a row when there is none
   * yet.
   */
  async list(query: AuditQuery, waitMs: number, signal?: AbortSignal): Promise<AuditPage> {
    await this.#writer.flush();
    const until = performance.now() + waitMs;
    let page = await this.#search(query, signal);
    while (page.rows.length === 0 && performance.now() < until) {
      const { written } = this.#writer;
      const left = Math.min(until - performance.now(), this.#lookMs);
      if (this.#writer.end.sequence <= page.next) await soonest(written, left, signal);
      page = await this.#search({ ...query, after: page.next }, signal);
    }
    return page;
  }

  async verify(signal?: AbortSignal): Promise<AuditReport> {
    if (this.#walk) {
      throw new SandhavenError('unavailable', 'The audit log is being verified or pruned already.', {
        hint: 'Try again in a moment.',
      });
    }
    return this.#walking(async () => {
      await this.#writer.flush();
      await this.#writer.catchUp();
      this.#lastReport = await verifyAudit(this.#deps.store, this.#chain, this.#writer.end, signal);
      return this.#lastReport;
    });
  }

  /** Removes rows past their retention; does nothing when all are kept or a walk is in progress. */
  async prune(): Promise<void> {
    const { keptMs, replicas, log } = this.#deps;
    if (keptMs === 0 || this.#walk || replicas?.isMine('audit retention') === false) return;
    const parts = { ...this.#deps, chain: this.#chain, writer: this.#writer };
    await this.#walking(() => pruneAudit(parts, keptMs)).catch((error: unknown) =>
      log.error('the audit log could not be pruned', { error }),
    );
  }

  /** Runs `work`, and `note` once: at its end, or before it when the log closes. */
  async #noted<T>(
    note: (outcome: AuditOutcome) => void,
    { signal }: Pick<AuditSubject, 'signal'>,
    work: () => Promise<T>,
    fault: () => AuditOutcome | null = () => null,
  ): Promise<T> {
    let isCutOff = false;
    const end = this.#calls.begin(() => {
      isCutOff = true;
      note('cancelled');
    });
    const last = (outcome: AuditOutcome) => {
      end();
      if (!isCutOff) note(outcome);
    };
    try {
      const result = await work();
      last(fault() ?? 'ok');
      return result;
    } catch (error) {
      last(outcomeOf(error, signal));
      throw error;
    }
  }

  async #walking<T>(work: () => Promise<T>): Promise<T> {
    const walk = work();
    this.#walk = walk;
    try {
      return await walk;
    } finally {
      this.#walk = null;
    }
  }

  async #search(query: AuditQuery, signal: AbortSignal | undefined): Promise<AuditPage> {
    await this.#writer.catchUp();
    return searchAudit(this.#deps.store, query, this.#writer.end.sequence, signal);
  }
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): AuditOutcome {
  if (signal?.aborted) return 'cancelled';
  return error instanceof SandhavenError ? error.code : 'internal';
}

async function soonest(written: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, ms));
  const left = () => resolve();
  signal?.addEventListener('abort', left, { once: true });
  if (signal?.aborted) resolve();
  await Promise.race([written, promise]);
  clearTimeout(timer);
  signal?.removeEventListener('abort', left);
  signal?.throwIfAborted();
}
