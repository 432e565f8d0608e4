/** Users of the service, for admins. */

import { notFound } from '../../model/errors.ts';
import { newUserId } from '../../model/ids.ts';
import type { OwnerNetworks } from '../../model/network/setting.ts';
import type { Quota, Usage } from '../../model/quota.ts';
import { readingId } from '../../model/team.ts';
import type { Account, Caller, Role } from '../../model/user.ts';
import { concernsUser } from '../audit/scope.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { AccountPatch, Clock, OwnerNetworkStore, Page, UserStore } from '../ports/index.ts';

export interface NewUser {
  name: string;
  email: string;
  role: Role;
  quota: Partial<Quota>;
}

export interface UserChange extends Partial<NewUser> {
  /** Drops the user's earlier settings; `quota` applies after it. */
  defaultQuota?: boolean;
}

export interface Member {
  account: Account;
  quota: Quota;
  used: Usage;
  networks: OwnerNetworks;
}

export interface UserDependencies {
  store: UserStore;
  quotas: Quotas;
  networks: Pick<OwnerNetworkStore, 'of'>;
  callerRights: Pick<CallerRights, 'ended'>;
  /** Ends access to the sandboxes of the user's teams. */
  endTeamAccess(userId: string): Promise<void>;
  clock: Clock;
}

export class UserService {
  readonly #deps: UserDependencies;

  constructor(dependencies: UserDependencies) {
    this.#deps = dependencies;
  }

  async create(user: NewUser): Promise<Member> {
    const { store, clock } = this.#deps;
    const account = { id: newUserId(), ...user, createdAt: clock.now(), disabledAt: null };
    await store.insertUser(account);
    return this.#member(account);
  }

  /** Lists all users for an admin, and only themselves for a member. */
  async list(caller: Caller, page: Page): Promise<{ users: Member[]; totalCount: number }> {
    if (caller.role !== 'admin') {
      const own = await this.#member(await this.find(caller.id));
      return { users: page.page === 1 ? [own] : [], totalCount: 1 };
    }
    const { users, totalCount } = await this.#deps.store.listUsers(page);
    return { users: await Promise.all(users.map((account) => this.#member(account))), totalCount };
  }

  async update(idOrEmail: string, change: UserChange): Promise<Member> {
    const { quota, defaultQuota, ...rest } = change;
    const patch = (account: Account) => ({
      ...rest,
      quota: { ...(defaultQuota ? {} : account.quota), ...quota },
    });
    // Open work began with rights that a viewer does not have.
    if (change.role === 'viewer') return this.#ending(idOrEmail, patch);
    const member = await this.#change(idOrEmail, patch);
    if (change.role === 'member') this.#deps.callerRights.ended(readingId(member.account.id));
    return member;
  }

  /** Disables the user: the keys stop working, and their open work ends; the sandboxes stay. */
  async disable(idOrEmail: string): Promise<Member> {
    const now = this.#deps.clock.now();
    return this.#ending(idOrEmail, ({ disabledAt }) => ({ disabledAt: disabledAt ?? now }));
  }

  enable(idOrEmail: string): Promise<Member> {
    return this.#change(idOrEmail, () => ({ disabledAt: null }));
  }

  /** Returns the one whose key was given at the start. */
  first(): Promise<Account | null> {
    return this.#deps.store.firstUser();
  }

  /** Rejects with `not_found`. */
  async find(idOrEmail: string): Promise<Account> {
    const account = await this.#deps.store.findUser(idOrEmail);
    if (account) return account;
    throw notFound(
      'user',
      `There is no user '${idOrEmail}'.`,
      'ListUsers shows the ids and emails there are.',
    );
  }

  /** Returns the maker of something, for people; null for none. */
  async maker(id: string | null): Promise<{ id: string; email: string | null } | null> {
    if (id === null) return null;
    return { id, email: (await this.#deps.store.findUser(id))?.email ?? null };
  }

  async #change(idOrEmail: string, change: (account: Account) => AccountPatch): Promise<Member> {
    const { id } = await this.find(idOrEmail);
    concernsUser(id);
    return this.#member((await this.#deps.store.updateUser(id, change)) ?? (await this.find(id)));
  }

  /**
   * Changes a user who may less from then on. Access to teams' sandboxes ends first, so that a process which is killed in
   * between leaves none; and anew, since a call may have made a token meanwhile.
   */
  async #ending(idOrEmail: string, change: (account: Account) => AccountPatch): Promise<Member> {
    const { id } = await this.find(idOrEmail);
    await this.#deps.endTeamAccess(id);
    const member = await this.#change(id, change);
    this.#deps.callerRights.ended(id);
    await this.#deps.endTeamAccess(id);
    return member;
  }

  async #member(account: Account): Promise<Member> {
    const { quotas, networks } = this.#deps;
    const used = await quotas.usage(account.id);
    return { account, quota: quotas.of(account), used, networks: await networks.of(account.id) };
  }
}
