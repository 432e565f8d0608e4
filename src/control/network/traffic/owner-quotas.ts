/** Quotas of owners whose sandboxes run, read again every few seconds: soon for those with traffic, later for others. */
import { mapBounded } from '../../../concurrency/in-portions.ts';
import { limits } from '../../../model/limits.ts';
import type { Quota } from '../../../model/quota.ts';
import type { Quotas } from '../../callers/quotas.ts';
import type { Clock } from '../../ports/index.ts';

export class OwnerQuotas {
  readonly #quotas: Pick<Quotas, 'allowance'>;
  readonly #clock: Clock;
  #known = new Map<string, { quota: Quota; readAt: number }>();

  constructor(quotas: Pick<Quotas, 'allowance'>, clock: Clock) {
    this.#quotas = quotas;
    this.#clock = clock;
  }

  /**
   * Returns the quota of each owner, at most 5 s old for those in `active`, at most a minute for others. An owner whose quota
   * cannot be read keeps the last one; one that was never read is left out.
   */
  async of(owners: Iterable<string>, active: ReadonlySet<string>): Promise<Map<string, Quota>> {
    const now = this.#clock.now();
    const { quotaMs, idleQuotaMs, quotasAtOnce } = limits.traffic;
    const all = [...new Set(owners)];
    const isOld = (id: string) => {
      const readAt = this.#known.get(id)?.readAt;
      return readAt === undefined || now - readAt >= (active.has(id) ? quotaMs : idleQuotaMs) || readAt > now;
    };
    const read = new Map(this.#known);
    await mapBounded(all.filter(isOld), quotasAtOnce, async (id) => {
      const { quota } = await this.#quotas.allowance(id).catch(() => ({ quota: null }));
      if (quota) read.set(id, { quota, readAt: now });
    });
    this.#known = new Map(
      all.flatMap((id) => [read.get(id)].flatMap((known) => (known ? [[id, known]] : []))),
    );
    return new Map([...this.#known].map(([id, { quota }]) => [id, quota]));
  }

  /** Returns the present quota of one owner. */
  async one(ownerId: string): Promise<Quota> {
    return (await this.#quotas.allowance(ownerId)).quota;
  }
}
