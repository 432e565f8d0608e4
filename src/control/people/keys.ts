/** API keys: a member's own, and all keys for an admin. */

import type { Maker } from '../../model/access/ways-in.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { newApiKey } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { beyond, ownScopes, type Scope } from '../../model/scopes.ts';
import type { Account, ApiKey, Caller, KeyState } from '../../model/user.ts';
import { concernsUser } from '../audit/scope.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { KeyUse } from '../callers/identity.ts';
import type { Clock, KeyStore, Page, SignInStore, TeamStore } from '../ports/index.ts';
import { noTeam } from './teams.ts';
import type { UserService } from './users.ts';

export interface KeyDependencies {
  store: KeyStore;
  users: UserService;
  teams: Pick<TeamStore, 'membership'>;
  use: KeyUse;
  callerRights: CallerRights;
  signIns: Pick<SignInStore, 'removeSignInsOfKey'>;
  clock: Clock;
  /** true: admins read inside everybody's sandboxes, so they may act as anybody. */
  adminsReadInside: boolean;
}

export interface KeyRequest {
  user: string | undefined;
  name: string;
  expiresInMinutes: number;
  /** null: all that the owner may do. */
  scopes: readonly Scope[] | null;
  /** Name or id of the team that the key is bound to. */
  team?: string | undefined;
}

export interface KeyMaker {
  id: string;
  /** null: a user who is gone. */
  email: string | null;
}

export interface OwnedKey {
  key: ApiKey;
  owner: Account;
  /** The admin who made it for the owner; null: the owner's own. */
  maker: KeyMaker | null;
  /** Current state of the key. */
  state: KeyState;
}

interface NewKey extends Omit<KeyRequest, 'user' | 'team'> {
  teamId: string | null;
  by: Maker | null;
}

const MINUTE_MS = 60_000;

export class KeyService {
  readonly #deps: KeyDependencies;

  constructor(dependencies: KeyDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Creates a key and returns it in clear, for the only time. 0 minutes never expire. Rejects with `permission_denied` where
   * an admin makes one for a user who has had a way in, and admins may not read inside.
   * @param user Owner of the key; the caller by default.
   */
  async create(
    caller: Caller,
    { user, name, expiresInMinutes, scopes: wanted, team }: KeyRequest,
  ): Promise<OwnedKey & { apiKey: string }> {
    const owner = await this.ownerOf(caller, user ?? caller.id);
    // A key that a viewer made stays within a viewer's scopes when its owner gets another role.
    const scopes = wanted ?? (caller.role === 'viewer' ? caller.scopes : null);
    const lacking = beyond(ownScopes(caller), scopes);
    if (lacking.length > 0) throw more(lacking);
    const teamId = team === undefined ? null : await this.#teamOf(owner, team);
    return this.#make(owner, { name, expiresInMinutes, scopes, teamId, by: this.makerOf(caller, owner) });
  }

  /** Creates a key that its owner has asked for in another way. Rejects with `permission_denied` for a disabled one. */
  async createFor(
    userId: string,
    request: Omit<KeyRequest, 'user' | 'team'>,
  ): Promise<OwnedKey & { apiKey: string }> {
    const owner = await this.#deps.users.find(userId);
    if (owner.disabledAt !== null) throw disabled();
    return this.#make(owner, { ...request, teamId: null, by: null });
  }

  async #make(
    owner: Account,
    { name, expiresInMinutes, scopes, teamId, by }: NewKey,
  ): Promise<OwnedKey & { apiKey: string }> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    if ((await store.countLive(owner.id, now)) >= limits.keysPerUser) throw tooMany();
    const apiKey = newApiKey();
    const expiresAt = expiresInMinutes === 0 ? null : now + expiresInMinutes * MINUTE_MS;
    const key = await store.add(owner.id, apiKey, { name, createdAt: now, expiresAt, scopes, teamId, by });
    return { ...(await this.#shown(key, owner)), apiKey };
  }

  /** @param user Owner of the keys; by default all that the caller may see. */
  async list(
    caller: Caller,
    user: string | undefined,
    page: Page,
  ): Promise<{ keys: OwnedKey[]; totalCount: number }> {
    const { store, users, use } = this.#deps;
    const listsAll = user === undefined && caller.role === 'admin';
    const owner = listsAll ? null : await this.ownerOf(caller, user ?? caller.id);
    await use.flush();
    const { keys, totalCount } = await store.list(owner?.id ?? null, page);
    const owned = keys.map(async (key) => this.#shown(key, owner ?? (await users.find(key.userId))));
    return { keys: await Promise.all(owned), totalCount };
  }

  /** Revokes a key for good; ends its open work, and the sign-ins that it has opened, at once. A member gets `not_found` for another user's key. */
  async revoke(caller: Caller, id: string): Promise<OwnedKey> {
    const { store, users, callerRights, signIns, clock } = this.#deps;
    const found = await store.find(id);
    const may = found !== null && (caller.role === 'admin' || found.userId === caller.id);
    const key = may ? await store.revoke(id, clock.now()) : null;
    if (!key) throw notFound('key', `There is no key '${id}'.`, 'ListKeys shows the ids of keys.');
    concernsUser(key.userId);
    callerRights.ended(key.id);
    for (const signIn of await signIns.removeSignInsOfKey(key.id)) callerRights.ended(signIn);
    return this.#shown(key, await users.find(key.userId));
  }

  async #teamOf(owner: Account, team: string): Promise<string> {
    const found = await this.#deps.teams.membership(team, owner.id);
    if (!found) throw noTeam(team);
    return found.id;
  }

  async #shown(key: ApiKey, owner: Account): Promise<OwnedKey> {
    const { clock, users } = this.#deps;
    const expired = key.expiresAt !== null && key.expiresAt <= clock.now();
    const state = key.revokedAt !== null ? 'revoked' : expired ? 'expired' : 'valid';
    return { key, owner, state, maker: await users.maker(key.createdBy) };
  }

  /** Returns the maker of a way in of the owner's; null where the owner makes it. */
  makerOf(caller: Pick<Caller, 'id'>, owner: Pick<Account, 'id'>): Maker | null {
    return caller.id === owner.id ? null : { id: caller.id, invites: !this.#deps.adminsReadInside };
  }

  /**
   * Returns the user for whom the caller may act. Rejects with `permission_denied`, the same for an unknown user as for
   * another one.
   */
  async ownerOf(caller: Caller, user: string): Promise<Account> {
    const own = user === caller.id || user.toLowerCase() === caller.email.toLowerCase();
    if (own || caller.role === 'admin') {
      const owner = await this.#deps.users.find(user);
      concernsUser(owner.id);
      return owner;
    }
    throw new SandhavenError('permission_denied', 'Only an admin may do this for another user.', {
      parameter: 'user',
      hint: 'Leave user out for yourself, or ask an admin.',
    });
  }
}

function more(lacking: readonly Scope[]): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `A key cannot make one that may do more than itself: it lacks ${lacking.join(', ')}.`,
    { parameter: 'scopes', hint: 'Ask for scopes that this key has, or use a key without a limit.' },
  );
}

function disabled(): SandhavenError {
  return new SandhavenError('permission_denied', 'The user is disabled.', {
    hint: 'An admin can enable the user again.',
  });
}

function tooMany(): SandhavenError {
  return new SandhavenError('resource_exhausted', `There are ${limits.keysPerUser} keys that are valid.`, {
    hint: 'Revoke some that are no longer needed.',
  });
}
