/**
 * Writer of audit rows: chains events in batches, never in a caller's time. Calls continue when nothing can be written,
 * on a full disk for example: events wait in memory up to a bound, and one row counts those beyond it.
 *
 * Invariant: rows are chained in the order of their events, each once. A kill loses the events of the last batch, and
 * the written rows are a whole chain.
 */
import {
  type AuditEvent,
  type AuditRow,
  auditActions,
  type ChainEnd,
  serviceEvent,
} from '../../model/audit.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { AuditCheckpoint, AuditStore, Clock, Log } from '../ports/index.ts';
import type { AuditChain } from './chain.ts';

export interface WriterDependencies {
  store: AuditStore;
  checkpoint: AuditCheckpoint;
  chain: AuditChain;
  /** true: other replicas append rows too. */
  isShared: boolean;
  clock: Clock;
  log: Log;
}

type Queued = AuditEvent & { time: number };

export class AuditWriter {
  readonly #deps: WriterDependencies;
  #queue: Queued[] = [];
  #end: ChainEnd;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  /** Forbids new timers, which would keep the process alive. */
  #closed = false;
  #failing = false;
  #checkpointTimer: NodeJS.Timeout | null = null;
  #checkpointing: Promise<void> = Promise.resolve();
  #checkpointed = 0;
  #onWritten = Promise.withResolvers<void>();

  constructor(dependencies: WriterDependencies) {
    this.#deps = dependencies;
    this.#end = dependencies.chain.origin;
  }

  /** Returns the last written row. */
  get end(): ChainEnd {
    return this.#end;
  }

  /** Resolves when the next rows are written. */
  get written(): Promise<void> {
    return this.#onWritten.promise;
  }

  /**
   * Continues at the end of the chain. Where the log ends before its checkpoint, the numbers of the missing rows stay
   * unused, so that every later verification reports them too.
   */
  async open(): Promise<void> {
    const { store, checkpoint, chain, log } = this.#deps;
    const [last, sealedAnchor, sealed] = [await store.last(), await store.anchor(), await checkpoint.read()];
    const stored = last ?? chain.unseal('anchor', sealedAnchor) ?? chain.origin;
    const known = chain.unseal('checkpoint', sealed);
    this.#end = known && known.sequence > stored.sequence ? known : stored;
    this.#checkpointed = known?.sequence ?? -1;
    if (this.#end.sequence > stored.sequence) {
      log.error('rows at the end of the audit log are missing', { after: stored.sequence });
    }
    const isFirst = stored.sequence === 0 && sealed === null;
    // A new replica has none; those that write know the end.
    const isNew = this.#deps.isShared && sealed === null;
    if (known === null && !isFirst && !isNew) {
      log.error('the checkpoint of the audit log is missing or was changed');
      this.add(serviceEvent(auditActions.unanchored));
    }
    // Written before the first row, so that rows without a checkpoint are always a fault.
    await this.#saveCheckpoint();
  }

  /** Moves the end behind rows that other replicas have appended. */
  async catchUp(): Promise<void> {
    if (!this.#deps.isShared) return;
    const last = await this.#deps.store.last();
    if (last && last.sequence > this.#end.sequence) this.#end = last;
  }

  /** Queues an event; after `close` drops it and logs the loss. */
  add(event: AuditEvent): void {
    if (this.#closed) {
      this.#deps.log.error('an event came after the audit log was closed', { action: event.action });
      return;
    }
    const time = this.#deps.clock.now();
    if (this.#queue.length >= limits.audit.queuedRows) this.#drop(time);
    else this.#queue.push({ ...event, time });
    if (this.#queue.length >= limits.audit.batchRows && !this.#failing) void this.flush();
    else this.#later(limits.audit.batchMs);
  }

  /** Resolves once all queued events are written, or cannot be. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#queue.length > 0) {
      const before = this.#queue.length;
      await this.flush();
      if (this.#failing || this.#queue.length >= before) break;
    }
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#queue.length > 0) {
      this.#deps.log.error('events were not written to the audit log', { events: this.#queue.length });
    }
    await this.#checkpointing;
    await this.#saveCheckpoint();
  }

  /** Counts dropped events in a row at the place where they would stand. */
  #drop(time: number): void {
    const last = this.#queue.at(-1);
    if (last?.action === auditActions.gap) Object.assign(last, { count: (last.count ?? 0) + 1, time });
    else this.#queue.push({ ...serviceEvent(auditActions.gap, 1), time });
  }

  #later(ms: number): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => void this.flush(), this.#failing ? limits.audit.retryMs : ms);
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      // Removed from the queue first: a batch must not grow while it is written.
      const batch = this.#queue.splice(0, limits.audit.rowsAtOnce);
      try {
        await this.#write(batch);
        this.#recovered();
      } catch (error) {
        this.#queue = [...batch, ...this.#queue];
        if (await this.#skipForeignRows(error)) continue;
        this.#failed(error);
        return;
      }
      // Yields to the event loop between two batches.
      if (this.#queue.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #write(batch: Queued[]): Promise<void> {
    const { store, chain } = this.#deps;
    let end = this.#end;
    const rows: AuditRow[] = [];
    for (const event of batch) {
      const row = chain.link(end, event);
      rows.push(row);
      end = row;
    }
    await store.append(rows);
    this.#end = { sequence: end.sequence, hash: end.hash };
    const { resolve } = this.#onWritten;
    this.#onWritten = Promise.withResolvers<void>();
    resolve();
    this.#checkpointSoon();
  }

  /**
   * Continues behind rows that another writer appended: another replica, which chains them as this one does, or somebody
   * else, whose rows stay for verification to find.
   */
  async #skipForeignRows(error: unknown): Promise<boolean> {
    if (!(error instanceof SandhavenError) || error.code !== 'already_exists') return false;
    const last = await this.#deps.store.last().catch(() => null);
    if (last === null || last.sequence <= this.#end.sequence) return false;
    if (!this.#deps.isShared) {
      this.#deps.log.error('the audit log has rows that this service did not write', {
        after: this.#end.sequence,
      });
    }
    this.#end = last;
    return true;
  }

  #failed(error: unknown): void {
    if (!this.#failing) this.#deps.log.error('the audit log cannot be written', { error });
    this.#failing = true;
    this.#later(limits.audit.retryMs);
  }

  #recovered(): void {
    if (this.#failing) this.#deps.log.info('the audit log can be written again');
    this.#failing = false;
  }

  #checkpointSoon(): void {
    this.#checkpointTimer ??= setTimeout(() => {
      this.#checkpointTimer = null;
      this.#checkpointing = this.#checkpointing.then(() => this.#saveCheckpoint());
    }, limits.audit.checkpointMs);
    this.#checkpointTimer.unref();
  }

  async #saveCheckpoint(): Promise<void> {
    const { checkpoint, chain, log } = this.#deps;
    if (this.#checkpointTimer) clearTimeout(this.#checkpointTimer);
    this.#checkpointTimer = null;
    const end = this.#end;
    if (end.sequence === this.#checkpointed) return;
    try {
      await checkpoint.write(chain.seal('checkpoint', end));
      this.#checkpointed = end.sequence;
    } catch (error) {
      log.error('the checkpoint of the audit log cannot be written', { error });
    }
  }
}
