/**
 * Applications that people have authorized: each by a grant. Whoever holds a token of a grant is a caller like the owner of
 * a key; the id of the grant stands in place of the key's.
 */
import { hash as digest } from 'node:crypto';
import { type Grant, toolScopesIn } from '../../model/access/oauth.ts';
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { isGrantId, newGrantId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { assertScope, beyond, type Scope, withinScopes } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';
import { concernsUser } from '../audit/scope.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import { KeyUse } from '../callers/identity.ts';
import type { Clock, OAuthStore, Page } from '../ports/index.ts';

export interface AuthorizedAppDependencies {
  store: OAuthStore;
  callerRights: Pick<CallerRights, 'ended'>;
  clock: Clock;
}

export type Permission = Pick<Grant, 'clientId' | 'clientName' | 'redirectHost' | 'resource' | 'scopes'>;

/** Part of an access token's contents. */
interface TokenContents {
  aud?: unknown;
  scope?: unknown;
}

export class AuthorizedApps {
  readonly #deps: AuthorizedAppDependencies;
  readonly #use: KeyUse;

  constructor(dependencies: AuthorizedAppDependencies) {
    this.#deps = dependencies;
    const { store, clock } = dependencies;
    this.#use = new KeyUse({ touch: (used) => store.touchGrants(used) }, clock);
  }

  /** Rejects with `permission_denied` where the caller may not do as much, with `invalid_argument` without any scope. */
  async allow(caller: Caller, permission: Permission): Promise<Grant> {
    assertScope(caller, 'account');
    const lacking = beyond(caller, permission.scopes);
    if (lacking.length > 0) throw more(lacking);
    if (permission.scopes.length === 0)
      throw invalidArgument(
        'scopes',
        'An application needs one scope at least.',
        'Choose one, or deny it all.',
      );
    const { store, callerRights, clock } = this.#deps;
    const now = clock.now();
    const times = { createdAt: now, lastUsedAt: now, expiresAt: now + limits.oauth.unclaimedMs };
    const grant: Grant = { id: newGrantId(), userId: caller.id, ...permission, ...times };
    for (const id of await store.addGrant(grant)) callerRights.ended(id);
    return grant;
  }

  /** Returns null for a token that opens nothing at this resource. */
  async authenticate(token: string, resource: string): Promise<Caller | null> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const found = await store.findArtifact('access', digest('sha256', token, 'buffer'));
    if (!found || found.grantId === null || found.expiresAt <= now) return null;
    const { aud, scope } = JSON.parse(found.payload) as TokenContents;
    const stored = aud === resource ? await store.findGrant(found.grantId, now) : null;
    if (!stored || stored.grant.resource !== resource) return null;
    const { grant, user } = stored;
    await this.#use.note(grant.id);
    // A token may have less than its grant, and never more.
    const scopes = toolScopesIn(String(scope)).filter((one) => grant.scopes.includes(one));
    // Work under way goes on past the token's end, and ends with the grant.
    return withinScopes({ ...user, keyId: grant.id, keyExpiresAt: grant.expiresAt, scopes });
  }

  /** @param userId null: of all users. */
  async list(userId: string | null, page: Page): Promise<{ grants: Grant[]; totalCount: number }> {
    await this.#use.flush();
    return this.#deps.store.listGrants(userId, page, this.#deps.clock.now());
  }

  /** Ends a grant and its open work, also one of a disabled user. A member gets `not_found` for another user's. */
  async revoke(caller: Caller, id: string): Promise<Grant> {
    const owner = caller.role === 'admin' ? null : caller.id;
    const ended = isGrantId(id) ? await this.end(id, owner) : null;
    if (ended) concernsUser(ended.userId);
    if (ended) return ended;
    const what = `There is no authorized application '${id.slice(0, 100)}'.`;
    throw notFound('grant', what, 'ListAuthorizedApps shows them.');
  }

  /**
   * Ends a grant, its tokens and its open work, at every replica.
   * @param owner Whose alone it may be; null: anybody's.
   */
  async end(id: string, owner: string | null = null): Promise<Grant | null> {
    const removed = await this.#deps.store.removeGrant(id, owner);
    if (removed) this.#deps.callerRights.ended(id);
    return removed;
  }

  flush(): Promise<void> {
    return this.#use.flush();
  }
}

function more(lacking: readonly Scope[]): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `An application gets no more than this sign-in has, which lacks ${lacking.join(', ')}.`,
    { parameter: 'scopes', hint: 'Choose fewer scopes, or sign in with a key that has them.' },
  );
}
