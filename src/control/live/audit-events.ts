/**
 * New rows of the audit log for those who follow it, those of other replicas too. One loop reads for all followers, and only
 * while there are some. An admin gets every row, a member those of their own calls and of reads
 * inside their sandboxes, by the role of the moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditRow } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import type { Role } from '../../model/user.ts';
import type { AuditService } from '../audit/audit.ts';
import type { Log } from '../ports/index.ts';

export interface AuditFollower {
  /** Oldest first. */
  rows(rows: AuditRow[]): void;
  /** Rows were left out: there were too many at once, or they could not be read. */
  rowsMissed(): void;
}

export interface AuditEventsDependencies {
  audit: Pick<AuditService, 'list'>;
  /** Resolves to the user's present role. */
  roleOf(userId: string): Promise<Role>;
  log: Log;
}

interface Following {
  userId: string;
  /** Of the key: one without the scope `admin` sees what a member sees. */
  mayAll: boolean;
  follower: AuditFollower;
}

export class AuditEvents {
  readonly #deps: AuditEventsDependencies;
  readonly #followings = new Set<Following>();
  #ending: AbortController | null = null;
  #loop: Promise<void> = Promise.resolve();
  /** Resolves when the loop knows where it goes on from, or that it does not. */
  #placed = Promise.withResolvers<void>();

  constructor(dependencies: AuditEventsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Follows rows that are written after this promise has resolved.
   * @returns Ends it.
   */
  async follow({ id, role }: { id: string; role: Role }, follower: AuditFollower): Promise<() => void> {
    const following = { userId: id, mayAll: role === 'admin', follower };
    this.#followings.add(following);
    this.#begin();
    await this.#placed.promise;
    return () => {
      this.#followings.delete(following);
      if (this.#followings.size === 0) this.#stop();
    };
  }

  async close(): Promise<void> {
    this.#followings.clear();
    this.#stop();
    await this.#loop;
  }

  #begin(): void {
    if (this.#ending) return;
    const ending = new AbortController();
    this.#ending = ending;
    this.#placed = Promise.withResolvers<void>();
    this.#loop = this.#loop.then(() => this.#readOn(ending.signal));
  }

  #stop(): void {
    this.#ending?.abort();
    this.#ending = null;
  }

  async #readOn(signal: AbortSignal): Promise<void> {
    let after: number | null = null;
    while (!signal.aborted) {
      try {
        after ??= await this.#endOfLog(signal);
        this.#placed.resolve();
        after = await this.#step(after, signal);
        await sleep(limits.events.auditPauseMs, undefined, { signal });
      } catch (error) {
        this.#placed.resolve();
        if (signal.aborted) return;
        this.#deps.log.warn('the audit log could not be read for those who follow it', { error });
        after = null;
        for (const { follower } of this.#followings) follower.rowsMissed();
        await sleep(limits.audit.retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #endOfLog(signal: AbortSignal): Promise<number> {
    return (await this.#deps.audit.list({ filter: {}, limit: 1 }, 0, signal)).next;
  }

  /** @returns the last sequence that followers have, or do without. */
  async #step(after: number, signal: AbortSignal): Promise<number> {
    const query = { filter: {}, after, limit: limits.events.auditRows };
    const page = await this.#deps.audit.list(query, limits.audit.waitSeconds.max * 1_000, signal);
    for (const following of this.#followings) {
      const rows = await this.#visible(following, page.rows);
      if (rows.length > 0) following.follower.rows(rows);
      if (page.hasMore) following.follower.rowsMissed();
    }
    return page.hasMore ? this.#endOfLog(signal) : page.next;
  }

  async #visible({ userId, mayAll }: Following, rows: AuditRow[]): Promise<AuditRow[]> {
    if (rows.length > 0 && mayAll && (await this.#deps.roleOf(userId)) === 'admin') return rows;
    // Also reads by an admin inside what is theirs.
    return rows.filter((row) => row.userId === userId || row.teamId === userId);
  }
}
