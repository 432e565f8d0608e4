/** Composition of users, teams, keys, quotas and rates. */

import type { Rate } from '../../fairness/rate.ts';
import { newUserId } from '../../model/ids.ts';
import type { Regions } from '../../model/region.ts';
import type { Account } from '../../model/user.ts';
import type { AccessService } from '../access/tokens.ts';
import type { Clock, Store } from '../ports/index.ts';
import { TeamAccess } from '../teams/team-access.ts';
import { TeamService } from '../teams/teams.ts';
import { IdentityService } from './identity.ts';
import { KeyUse } from './key-use.ts';
import { KeyService } from './keys.ts';
import { type QuotaDefaults, Quotas } from './quotas.ts';
import { Rates } from './rates.ts';
import { SignInService } from './sign-ins.ts';
import { Standing } from './standing.ts';
import { UserService } from './users.ts';

export interface PeopleDependencies {
  store: Pick<Store, 'users' | 'teams' | 'keys' | 'signIns' | 'replicas'> & {
    sandboxes: Pick<Store['sandboxes'], 'usage' | 'names'>;
    snapshots: Pick<Store['snapshots'], 'count'>;
  };
  /** Tokens of the gateways. */
  access: Pick<AccessService, 'revoke'>;
  clock: Clock;
  /** Default quotas. */
  quota: QuotaDefaults;
  /** Call rate of each key; null without a limit. */
  rate: Rate | null;
  regions: Regions;
}

export interface People {
  identity: IdentityService;
  users: UserService;
  teams: TeamService;
  keys: KeyService;
  signIns: SignInService;
  quotas: Quotas;
  standing: Standing;
  /** Writes pending uses of keys and sign-ins. */
  close(): Promise<void>;
}

export function createPeople({ store, access, clock, quota, rate, regions }: PeopleDependencies): People {
  const quotas = new Quotas({ ...store, defaults: quota });
  const standing = new Standing(store, clock, store.replicas);
  const use = new KeyUse(store.keys, clock);
  const teams = new TeamService({
    ...{ store: store.teams, users: store.users, quotas, standing, clock },
    access: new TeamAccess(store.sandboxes, access),
  });
  const endTeamAccess = (userId: string) => teams.endAccessOf(userId);
  const users = new UserService({ store: store.users, quotas, standing, endTeamAccess, clock });
  const signIns = new SignInService({ store: store.signIns, keys: store.keys, users, standing, clock });
  const rates = new Rates(rate, clock, store.replicas);
  return {
    ...{ users, teams, quotas, standing },
    identity: new IdentityService({ keys: store.keys, use, standing, rates, regions, clock }),
    keys: new KeyService({
      ...{ store: store.keys, signIns: store.signIns, users, teams: store.teams, use, standing, clock },
    }),
    signIns,
    async close() {
      await use.flush();
      await signIns.flush();
    },
  };
}

/**
 * Adds the operator's key to the first user's keys; replaces none. Replicas that start together on an empty store make one
 * user.
 */
export async function enrolFirstUser(
  { users, keys }: Pick<Store, 'users' | 'keys'>,
  clock: Clock,
  apiKey: string,
): Promise<void> {
  const createdAt = clock.now();
  const { id } = (await users.firstUser()) ?? (await makeFirstUser(users, createdAt));
  await keys.add(id, apiKey, { name: 'given at the start', createdAt, expiresAt: null });
}

async function makeFirstUser(users: Store['users'], createdAt: number): Promise<Account> {
  const admin = { name: 'admin', email: 'admin@localhost', role: 'admin' as const };
  const user = { id: newUserId(), ...admin, createdAt, disabledAt: null, quota: {} };
  try {
    await users.insertUser(user);
    return user;
  } catch (error) {
    // Another replica made it a moment ago.
    const present = await users.firstUser();
    if (!present) throw error;
    return present;
  }
}
