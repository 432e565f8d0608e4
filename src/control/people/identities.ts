/** Identities of users at the team's provider, for admins: which person there signs in as which user here. */
import type { OwnedIdentity } from '../../model/access/identity.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';
import { concernsUser } from '../audit/scope.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { Clock, IdentityProvider, IdentityStore, Page } from '../ports/index.ts';
import type { KeyService } from './keys.ts';
import type { UserService } from './users.ts';

export interface IdentityDependencies {
  store: IdentityStore;
  users: Pick<UserService, 'find'>;
  keys: Pick<KeyService, 'makerOf'>;
  callerRights: Pick<CallerRights, 'ended'>;
  /** null: none is configured. */
  provider: Pick<IdentityProvider, 'issuer'> | null;
  clock: Clock;
}

export class LinkedIdentities {
  readonly #deps: IdentityDependencies;

  constructor(dependencies: IdentityDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Links a person of the configured provider with a user: the person signs in as that user from now on. Rejects with
   * `permission_denied` for another user who has had a way in, where admins may not read inside.
   */
  async link(caller: Caller, idOrEmail: string, subject: string): Promise<OwnedIdentity> {
    const { store, users, keys, clock } = this.#deps;
    const issuer = this.#issuer();
    const user = await users.find(idOrEmail);
    const identity = { issuer, subject, userId: user.id, linkedAt: clock.now() };
    concernsUser(user.id);
    const by = keys.makerOf(caller, user);
    await store.link(identity, by);
    return { identity: { ...identity, linkedBy: by?.id ?? null }, user };
  }

  /**
   * Unlinks a person, and ends the sign-ins that came by it.
   * @param issuer Of an earlier provider; by default that of the configured one.
   */
  async unlink(subject: string, issuer: string = this.#issuer()): Promise<OwnedIdentity> {
    const { store, users, callerRights } = this.#deps;
    const identity = await store.unlink({ issuer, subject });
    if (!identity) throw unknown();
    concernsUser(identity.userId);
    const ended = await store.removeSignInsOf({ issuer, subject, sid: null });
    for (const id of ended ?? []) callerRights.ended(id);
    return { identity, user: await users.find(identity.userId) };
  }

  /** @param idOrEmail Of one user; undefined: of all. */
  async list(
    idOrEmail: string | undefined,
    page: Page,
  ): Promise<{ identities: OwnedIdentity[]; totalCount: number }> {
    const { store, users } = this.#deps;
    const one = idOrEmail === undefined ? null : await users.find(idOrEmail);
    const { identities, totalCount } = await store.listIdentities(one?.id ?? null, page);
    const owned = identities.map(async (identity) => ({
      identity,
      user: one ?? (await users.find(identity.userId)),
    }));
    return { identities: await Promise.all(owned), totalCount };
  }

  #issuer(): string {
    const { provider } = this.#deps;
    if (provider) return provider.issuer;
    throw new SandhavenError('failed_precondition', 'This service has no identity provider.', {
      hint: 'The operator configures one with --oidc-issuer: see docs/sign-in.md.',
    });
  }
}

function unknown(): SandhavenError {
  return notFound(
    'identity',
    'There is no such identity.',
    'ListIdentities shows the subjects that are linked, each with its issuer.',
  );
}
