/** Wires users' authorizations at the code-hosting provider. */
import type { Clock, CodeHost, Log, Store } from '../../control/ports/index.ts';
import { AuthorizationService } from '../../control/provider/authorizations.ts';
import type { AuthorizationUses } from '../../control/provider/device-polls.ts';
import { UserTokens } from '../../control/provider/tokens.ts';

export interface ProviderParts {
  host: CodeHost | null;
  store: Pick<Store, 'authorizations' | 'pendingAuthorizations' | 'replicas'>;
  /** Asked once they are made, which needs the authorizations; null where there are none. */
  uses(): AuthorizationUses | null;
  clock: Clock;
  log: Log;
}

export interface Provider {
  host: CodeHost;
  authorizations: AuthorizationService;
  tokens: UserTokens;
}

/** Returns null without a provider. */
export function wireProvider({ host, store, uses, clock, log }: ProviderParts): Provider | null {
  if (host === null) return null;
  const made: AuthorizationUses = {
    changed: (userId) => uses()?.changed(userId),
    ended: async (userId) => uses()?.ended(userId),
  };
  const shared = { store: store.authorizations, host, uses: made, clock, log };
  return {
    host,
    authorizations: new AuthorizationService({ ...shared, pending: store.pendingAuthorizations }),
    tokens: new UserTokens({ ...shared, replicas: store.replicas }),
  };
}
