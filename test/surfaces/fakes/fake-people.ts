/** Users and keys as they are, over a store in memory: an admin and a member. */
import { AccessService } from '../../../src/control/access/tokens.ts';
import { createCredentials } from '../../../src/control/credentials/credentials.ts';
import { argon2id, PasswordHashes } from '../../../src/control/credentials/password-hashes.ts';
import { createPeople, type SignInProvider } from '../../../src/control/people/people.ts';
import type { AccessTokenStore, Store } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import type { Rate } from '../../../src/fairness/rate.ts';
import { unlimited } from '../../../src/model/quota.ts';
import { localRegion } from '../../../src/model/region.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { WayInside } from '../../../src/model/sandbox-access.ts';
import type { Account, Caller } from '../../../src/model/user.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { createPasskeyVerifier } from '../../../src/webauthn/verifier.ts';
import { memoryCredentials } from '../../store/memory/memory-credentials.ts';
import { memoryDeviceSignIns } from '../../store/memory/memory-device-sign-ins.ts';
import { memoryOAuth } from '../../store/memory/memory-oauth.ts';
import { memoryOwnerNetworks } from '../../store/memory/memory-owner-networks.ts';
import { memoryPeople } from '../../store/memory/memory-people.ts';
import { memoryServiceSecrets } from '../../store/memory/memory-service-secrets.ts';
import { memorySignIns } from '../../store/memory/memory-sign-ins.ts';

export const API_KEY = 'shv_test';
export const MEMBER_KEY = 'shv_member';

export const user: Caller = {
  id: 'user_1',
  name: 'Ada',
  email: 'ada@example.org',
  role: 'admin',
  keyId: 'key_0000000000000001',
  keyExpiresAt: null,
  scopes: null,
};

const admin: Account = {
  id: user.id,
  name: user.name,
  email: user.email,
  role: user.role,
  createdAt: Date.UTC(2026, 0, 2),
  disabledAt: null,
  quota: {},
};
const member: Account = { ...admin, id: 'user_2', name: 'Ben', email: 'ben@example.org', role: 'member' };

export type PeopleStore = Pick<
  Store,
  | 'users'
  | 'userDeletions'
  | 'teams'
  | 'ownerNetworks'
  | 'keys'
  | 'signIns'
  | 'identities'
  | 'passkeys'
  | 'passwords'
>;

/** A store with both users and their keys. */
export function fakePeopleStore(): PeopleStore {
  const { users, userDeletions, teams, keys } = memoryPeople();
  const details = { name: 'test', createdAt: admin.createdAt, expiresAt: null };
  // Nothing in memory waits, so both are there when this returns.
  for (const account of [admin, member]) void users.insertUser(account);
  void keys.add(admin.id, API_KEY, details);
  void keys.add(member.id, MEMBER_KEY, details);
  return {
    ...{ users, userDeletions, teams, keys, ownerNetworks: memoryOwnerNetworks({ users, teams }) },
    ...memorySignIns({ users, keys }),
    ...memoryCredentials({ users }),
  };
}

type Fakes = Pick<
  Services,
  | 'identity'
  | 'sandboxTokens'
  | 'users'
  | 'teams'
  | 'keys'
  | 'signIns'
  | 'deviceSignIns'
  | 'identities'
  | 'identityProviderSignIns'
  | 'passkeys'
  | 'passwords'
  | 'apps'
  | 'oauth'
>;

export interface FakePeopleOptions {
  /** Of calls; none by default. */
  rate?: Rate | null;
  store?: PeopleStore;
  sandboxes?: ReadonlyMap<string, Sandbox>;
  /** Receives the ids of sandboxes whose access was revoked. */
  revoked?: string[];
  takesPasswords?: boolean;
  /** Called before each hash of a password is computed. */
  onHash?: () => void;
  signInProvider?: SignInProvider | null;
  adminsReadInside?: boolean;
  /** true: ports may be open to everybody. */
  mayBePublic?: boolean;
}

export function fakePeople({
  rate = null,
  store = fakePeopleStore(),
  sandboxes = new Map(),
  revoked = [],
  takesPasswords = true,
  onHash = () => {},
  signInProvider = null,
  adminsReadInside = false,
}: FakePeopleOptions = {}): Fakes & { access: Pick<AccessService, 'revoke'> } {
  const epochs = new Map<string, number>();
  const tokens = {
    tokenEpoch: async (id: string) => epochs.get(id) ?? 0,
    async revoke(id: string, kinds: readonly WayInside[]) {
      revoked.push(id);
      if (kinds.includes('token')) epochs.set(id, (epochs.get(id) ?? 0) + 1);
      return { ssh: 0, preview: 0 };
    },
  } as unknown as AccessTokenStore;
  const access = new AccessService({ tokens, clock: Date, previewKey: Buffer.alloc(32, 7) });
  const {
    quotas: _quotas,
    callerRights: _standing,
    close: _close,
    ...people
  } = createPeople({
    store: {
      ...{ ...store, ...memoryDeviceSignIns(), ...memoryOAuth(store), replicas: createAlone() },
      serviceSecrets: memoryServiceSecrets(),
      sandboxes: {
        usage: async () => ({ sandboxes: 3, cpu: 2, memory: 4, disk: 60 }),
        names: async (owner) => [...sandboxes.values()].filter(({ ownerId }) => ownerId === owner),
        get: async (id) => sandboxes.get(id) ?? null,
        find: async (owner, wanted) =>
          [...sandboxes.values()].find(
            ({ id, name, ownerId }) => ownerId === owner && (id === wanted || name === wanted),
          ) ?? null,
      },
      snapshots: { count: async () => 1 },
    },
    access,
    clock: Date,
    quota: { everybody: { sandboxes: 10 }, members: unlimited },
    rate,
    regions: [localRegion],
    ...{ signInProvider, adminsReadInside },
  });
  people.deviceSignIns.servedAt('https://sandhaven.example.org');
  const credentials = createCredentials({
    store: { ...store, replicas: createAlone() },
    ...{ people, clock: Date, verifier: createPasskeyVerifier() },
    ...{ challengeKey: Buffer.alloc(32, 7), takesPasswords },
    hashes: new PasswordHashes((...given) => {
      onHash();
      return argon2id(...given);
    }),
  });
  return { ...people, access, ...credentials };
}
