/**
 * The turn to renew an authorization, which one replica has at a time: a refresh token works once, and a provider may
 * revoke everything when it sees one again. The turn is in the row, by the database's clock. A replica that is gone keeps
 * it for a bounded time; the answer that it waited for may be lost, and then the user has to authorize again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Authorization } from '../../model/provider.ts';
import { assertTenure, underLease } from '../base/tenure.ts';
import type { AuthorizationStore, Log, Replicas } from '../ports/index.ts';

export interface RenewalTurnsDependencies {
  store: Pick<AuthorizationStore, 'get' | 'takeRenewal' | 'leaveRenewal'>;
  replicas: Replicas;
  log: Pick<Log, 'warn'>;
}

export class RenewalTurns {
  readonly #d: RenewalTurnsDependencies;

  constructor(dependencies: RenewalTurnsDependencies) {
    this.#d = dependencies;
  }

  /**
   * Runs `work` in the turn; at once, without a round trip, where this process is alone. Returns null without the work
   * when the authorization is another one by then. Rejects with `unavailable` without a lease, or when others have the
   * turn for longer than `limits.provider.renewWaitMs`.
   */
  async run<T>(authorization: Authorization, work: () => Promise<T>): Promise<{ value: T } | null> {
    const { store, replicas, log } = this.#d;
    if (!replicas.shared) return { value: await work() };
    return underLease(replicas, async () => {
      const turn = await this.#take(authorization);
      if (turn === null) return null;
      try {
        // Suspended since it took the turn, this replica may have lost it.
        assertTenure(replicas);
        return { value: await work() };
      } finally {
        // What the work has renewed or removed needs no end of the turn.
        await store
          .leaveRenewal(authorization.id, turn)
          .catch((error: unknown) =>
            log.warn('the turn to renew an authorization lasts until its end', { error }),
          );
      }
    });
  }

  async #take({ id, userId, provider, updatedAt }: Authorization): Promise<number | null> {
    const { store } = this.#d;
    const { renewTurnMs, renewWaitMs, renewLookMs } = limits.provider;
    for (const until = performance.now() + renewWaitMs; ; ) {
      const turn = await store.takeRenewal(id, updatedAt, renewTurnMs);
      if (turn !== null) return turn;
      const now = await store.get(userId, provider);
      if (now?.id !== id || now.updatedAt !== updatedAt) return null;
      if (performance.now() > until) throw tooLong();
      await sleep(renewLookMs);
    }
  }
}

function tooLong(): SandhavenError {
  return new SandhavenError('unavailable', 'Another replica is renewing the authorization at the provider.', {
    hint: 'Try again in a moment.',
    retryable: true,
  });
}
