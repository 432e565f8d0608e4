/** Removal of old rows, at the start of the service. */
import type { People } from '../../control/people/people.ts';
import type { Clock, Log, Store } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';

export interface PruneDependencies {
  store: Pick<Store, 'idempotency' | 'accessTokens'>;
  people: Pick<People, 'signIns' | 'oauth'>;
  clock: Clock;
  log: Log;
}

/** A full disk is no reason to stay away: sandboxes are served, and can be deleted once there is room. */
export async function pruneOldRows({ store, people, clock, log }: PruneDependencies): Promise<void> {
  try {
    await store.idempotency.prune(clock.now() - limits.idempotencyKeptMs);
    await store.accessTokens.prune(clock.now());
    await people.signIns.prune();
    await people.oauth.prune();
  } catch (error) {
    log.warn('old rows could not be removed', { error });
  }
}
