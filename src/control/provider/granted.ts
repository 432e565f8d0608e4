/** Stores the tokens that the provider granted, if they suffice. */
import { newAuthorizationId } from '../../model/ids.ts';
import type { AuthorizationOutcome, ProviderTokens } from '../../model/provider.ts';
import type { User } from '../../model/user.ts';
import type { AuthorizationStore, Clock, CodeHost, Log } from '../ports/index.ts';

export interface GrantDependencies {
  host: CodeHost;
  store: AuthorizationStore;
  uses: AuthorizationUses;
  clock: Clock;
  log: Log;
}

/** Replaces the user's earlier authorization. Rejects like `CodeHost.account`. */
export async function storeGranted(
  { host, store, uses, clock, log }: GrantDependencies,
  user: User,
  tokens: ProviderTokens,
): Promise<AuthorizationOutcome> {
  const { scope, url } = host;
  if (scope !== null && !tokens.scopes.includes(scope)) {
    return { status: 'denied', reason: `The scope ${scope} was not granted, and Sandhaven requires it.` };
  }
  const account = await host.account(tokens.accessToken);
  if (!account) return { status: 'denied', reason: 'The provider rejects the token that it issued.' };
  const now = clock.now();
  const times = { createdAt: now, updatedAt: now };
  await store.put({ id: newAuthorizationId(), userId: user.id, provider: url, account, tokens, ...times });
  uses.changed(user.id);
  log.info('a user authorized the service at the provider', { user: user.id });
  return { status: 'authorized', account };
}

/**
 * Uses of authorizations that last longer than one operation: those that requests of running sandboxes carry. Hears
 * of changes once the store has them.
 */
export interface AuthorizationUses {
  /** The authorization of a user is another one, or none. Does not wait, since the caller may hold a sandbox's turn. */
  changed(userId: string): void;
  /** Resolves when nothing carries what the user had. Rejects with `unavailable` where that failed, and is repeated. */
  ended(userId: string): Promise<void>;
}
