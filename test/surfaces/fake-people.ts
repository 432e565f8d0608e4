/** Users and keys as they are, over a store in memory: an admin and a member. */
import { IdentityService } from '../../src/control/identity.ts';
import { RegistryService } from '../../src/control/registries.ts';
import type { Services } from '../../src/control/services.ts';
import { UserService } from '../../src/control/users.ts';
import { everyRegistry } from '../../src/model/registry-rules.ts';
import type { Account, Caller } from '../../src/model/user.ts';
import { memoryPeople } from '../store/memory-people.ts';
import { memoryRegistryCredentials } from '../store/memory-registries.ts';

export const API_KEY = 'shv_test';
export const MEMBER_KEY = 'shv_member';

export const user: Caller = {
  id: 'user_1',
  name: 'Ada',
  email: 'ada@example.org',
  role: 'admin',
  keyId: `key_of_${API_KEY}`,
  keyExpiresAt: null,
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

export function fakePeople(): Pick<Services, 'identity' | 'users' | 'registries'> {
  const { users, keys } = memoryPeople();
  const details = { name: 'test', createdAt: admin.createdAt, expiresAt: null };
  // Nothing in memory waits, so both are there when this returns.
  for (const account of [admin, member]) void users.insertUser(account);
  void keys.add(admin.id, API_KEY, details);
  void keys.add(member.id, MEMBER_KEY, details);
  const clock = Date;
  return {
    identity: new IdentityService(keys, clock),
    users: new UserService({ store: users, clock }),
    registries: new RegistryService({ store: memoryRegistryCredentials(), rules: everyRegistry, clock }),
  };
}
