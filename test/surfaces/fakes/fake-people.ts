/** Users and keys as they are, over a store in memory: an admin and a member. */
import { createPeople } from '../../../src/control/people/people.ts';
import type { Services } from '../../../src/control/services.ts';
import type { Rate } from '../../../src/fairness/rate.ts';
import { unlimited } from '../../../src/model/quota.ts';
import { localRegion } from '../../../src/model/region.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Account, Caller } from '../../../src/model/user.ts';
import { createAlone } from '../../../src/store/alone.ts';
import { memoryPeople } from '../../store/memory/memory-people.ts';
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

export interface FakePeopleOptions {
  /** Of calls; none by default. */
  rate?: Rate | null;
  sandboxes?: ReadonlyMap<string, Sandbox>;
  /** Receives the ids of sandboxes whose access was revoked. */
  revoked?: string[];
}

export function fakePeople({
  rate = null,
  sandboxes = new Map(),
  revoked = [],
}: FakePeopleOptions = {}): Pick<Services, 'identity' | 'users' | 'teams' | 'keys' | 'signIns'> {
  const { users, teams, keys } = memoryPeople();
  const { signIns } = memorySignIns({ users, keys });
  const details = { name: 'test', createdAt: admin.createdAt, expiresAt: null };
  // Nothing in memory waits, so both are there when this returns.
  for (const account of [admin, member]) void users.insertUser(account);
  void keys.add(admin.id, API_KEY, details);
  void keys.add(member.id, MEMBER_KEY, details);
  const { identity, ...people } = createPeople({
    store: {
      ...{ users, teams, keys, signIns, replicas: createAlone() },
      sandboxes: {
        usage: async () => ({ sandboxes: 3, cpu: 2, memory: 4, disk: 60 }),
        names: async (owner) => [...sandboxes.values()].filter(({ ownerId }) => ownerId === owner),
      },
      snapshots: { count: async () => 1 },
    },
    access: {
      async revoke(id) {
        revoked.push(id);
        return { ssh: 0, preview: 0 };
      },
    },
    clock: Date,
    quota: { everybody: { sandboxes: 10 }, members: unlimited },
    rate,
    regions: [localRegion],
  });
  const { teams: teamService, ...rest } = people;
  return { identity, users: rest.users, teams: teamService, keys: rest.keys, signIns: rest.signIns };
}
