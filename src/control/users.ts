/** Users of the service, as admins manage them. */
import { notFound, SandhavenError } from '../model/errors.ts';
import { newUserId } from '../model/ids.ts';
import type { Account, Caller, Role } from '../model/user.ts';
import type { Clock, Page, UserStore } from './ports.ts';

export interface NewUser {
  name: string;
  email: string;
  role: Role;
}

export interface UserDependencies {
  store: UserStore;
  clock: Clock;
}

export class UserService {
  readonly #d: UserDependencies;

  constructor(dependencies: UserDependencies) {
    this.#d = dependencies;
  }

  async create({ name, email, role }: NewUser): Promise<Account> {
    const { store, clock } = this.#d;
    const account = {
      id: newUserId(),
      name,
      email,
      role,
      createdAt: clock.now(),
      disabledAt: null,
      quota: {},
    };
    await store.insertUser(account);
    return account;
  }

  /** An admin sees all, a member only themselves. */
  async list(caller: Caller, page: Page): Promise<{ users: Account[]; totalCount: number }> {
    if (caller.role === 'admin') return this.#d.store.listUsers(page);
    const own = await this.find(caller.id);
    return { users: page.page === 1 ? [own] : [], totalCount: 1 };
  }

  /** Fails with `not_found`. */
  async find(idOrEmail: string): Promise<Account> {
    const account = await this.#d.store.findUser(idOrEmail);
    if (account) return account;
    throw notFound(
      'user',
      `There is no user '${idOrEmail}'.`,
      'ListUsers shows the ids and emails there are.',
    );
  }
}

/** What only an admin may do for somebody else: the same whether or not there is such a user. */
export function assertOwnOrAdmin(caller: Caller, user: string): void {
  if (caller.role === 'admin' || user === caller.id || user.toLowerCase() === caller.email.toLowerCase())
    return;
  throw new SandhavenError('permission_denied', 'Only an admin may do this for another user.', {
    parameter: 'user',
    hint: 'Leave user out for yourself, or ask an admin.',
  });
}
