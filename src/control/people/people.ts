/** Composition of users, teams, keys, quotas and rates. */

import type { Rate } from '../../fairness/rate.ts';
import type { AdmissionRules } from '../../model/access/admission.ts';
import { newUserId } from '../../model/ids.ts';
import type { Regions } from '../../model/region.ts';
import type { Account } from '../../model/user.ts';
import { SandboxTokens } from '../access/sandbox-tokens.ts';
import type { AccessService } from '../access/tokens.ts';
import { CallerRights } from '../callers/caller-rights.ts';
import { IdentityService, KeyUse } from '../callers/identity.ts';
import { type QuotaDefaults, Quotas } from '../callers/quotas.ts';
import { Rates } from '../callers/rates.ts';
import type { Clock, IdentityProvider, Store } from '../ports/index.ts';
import { AuthorizedApps } from './authorized-apps.ts';
import { DeviceSignInService } from './device-sign-ins.ts';
import { LinkedIdentities } from './identities.ts';
import { IdentityProviderSignIns } from './identity-provider-sign-ins.ts';
import { KeyService } from './keys.ts';
import { OAuthRecords } from './oauth-records.ts';
import { SignInService } from './sign-ins.ts';
import { TeamAccess, TeamService } from './teams.ts';
import { UserService } from './users.ts';

export interface PeopleDependencies {
  store: Pick<
    Store,
    | 'users'
    | 'teams'
    | 'ownerNetworks'
    | 'keys'
    | 'signIns'
    | 'deviceSignIns'
    | 'identities'
    | 'oauth'
    | 'serviceSecrets'
    | 'replicas'
  > & {
    sandboxes: Pick<Store['sandboxes'], 'usage' | 'names' | 'find' | 'get'>;
    snapshots: Pick<Store['snapshots'], 'count'>;
  };
  /** Tokens of the gateways. */
  access: Pick<AccessService, 'revoke' | 'sandboxSignature' | 'tokenEpoch' | 'whileGranted'>;
  clock: Clock;
  /** Default quotas. */
  quota: QuotaDefaults;
  /** Call rate of each key; null without a limit. */
  rate: Rate | null;
  regions: Regions;
  /** Returns the bytes of an owner's traffic of today; absent where nobody counts them. */
  trafficOf?: ((ownerId: string) => number) | undefined;
  /** None by default. */
  signInProvider?: SignInProvider | null;
  /** true: admins read inside everybody's sandboxes; not by default. */
  adminsReadInside?: boolean;
}

/** The team's identity provider, and whom it lets in. */
export interface SignInProvider {
  provider: IdentityProvider;
  rules: AdmissionRules;
  /** Key that all replicas seal sign-ins under way with. */
  key: Buffer;
}

export interface People {
  identity: IdentityService;
  sandboxTokens: SandboxTokens;
  users: UserService;
  teams: TeamService;
  keys: KeyService;
  signIns: SignInService;
  deviceSignIns: DeviceSignInService;
  identities: LinkedIdentities;
  /** null without an identity provider. */
  identityProviderSignIns: IdentityProviderSignIns | null;
  /** Applications that people have authorized, and the records of the authorization server. */
  apps: AuthorizedApps;
  oauth: OAuthRecords;
  quotas: Quotas;
  callerRights: CallerRights;
  /** Writes pending uses of keys, sign-ins and grants. */
  close(): Promise<void>;
}

export function createPeople({
  store,
  access,
  clock,
  quota,
  rate,
  regions,
  trafficOf,
  signInProvider = null,
  adminsReadInside = false,
}: PeopleDependencies): People {
  const quotas = new Quotas({ ...store, defaults: quota, trafficOf });
  const callerRights = new CallerRights(store, clock, store.replicas);
  const sandboxTokens = new SandboxTokens({ ...store, access, callerRights, clock });
  const use = new KeyUse(store.keys, clock);
  const teams = new TeamService({
    ...{ store: store.teams, users: store.users, quotas, callerRights, clock, adminsReadInside },
    networks: store.ownerNetworks,
    access: new TeamAccess(store.sandboxes, access),
  });
  const endTeamAccess = (userId: string) => teams.endAccessOf(userId);
  const users = new UserService({
    ...{ store: store.users, quotas, networks: store.ownerNetworks, callerRights, endTeamAccess, clock },
  });
  const signIns = new SignInService({ store: store.signIns, keys: store.keys, users, callerRights, clock });
  const keys = new KeyService({
    ...{ store: store.keys, signIns: store.signIns, users, teams: store.teams, use, callerRights, clock },
    adminsReadInside,
  });
  const apps = new AuthorizedApps({ store: store.oauth, callerRights, clock });
  const { users: userStore, oauth, serviceSecrets: secrets } = store;
  const rates = new Rates(rate, clock, store.replicas);
  return {
    ...{ users, teams, quotas, callerRights },
    identity: new IdentityService({
      ...{ keys: store.keys, use, callerRights, sandboxTokens, rates, regions, clock },
    }),
    sandboxTokens,
    ...{ keys, signIns, apps },
    oauth: new OAuthRecords({ store: oauth, users: userStore, secrets, apps, clock }),
    deviceSignIns: new DeviceSignInService({ store: store.deviceSignIns, keys, clock }),
    identities: new LinkedIdentities({
      ...{ store: store.identities, users, keys, callerRights, clock },
      provider: signInProvider?.provider ?? null,
    }),
    identityProviderSignIns:
      signInProvider &&
      new IdentityProviderSignIns({ ...signInProvider, store, signIns, callerRights, clock }),
    async close() {
      await use.flush();
      await signIns.flush();
      await apps.flush();
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
