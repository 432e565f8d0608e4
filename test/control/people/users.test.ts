/** Users who may less from now on: their access ends, also when the first attempt fails half-way. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Quotas } from '../../../src/control/callers/quotas.ts';
import { UserService } from '../../../src/control/people/users.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import { alice, bob } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const members = { sandboxes: 5, cpu: 8, memory: 16, disk: 100, snapshots: 3 };

let store: Store;
let users: UserService;
const endTeamAccess = vi.fn<(id: string) => Promise<void>>();
const ended = vi.fn<(id: string) => void>();

beforeEach(async () => {
  endTeamAccess.mockReset().mockResolvedValue();
  ended.mockReset();
  store = memoryStore();
  await store.users.insertUser(bob);
  const quotas = new Quotas({ ...store, defaults: { everybody: {}, members } });
  users = new UserService({
    ...{ store: store.users, quotas, networks: store.ownerNetworks, callerRights: { ended } },
    ...{ endTeamAccess, clock: Date },
  });
});

describe.each([
  ['disabled', () => users.disable(bob.email)],
  ['made a viewer', () => users.update(bob.email, { role: 'viewer' })],
])('a user who is %s', (_what, change) => {
  it('loses access to the sandboxes of teams before the change, and what was opened meanwhile after it', async () => {
    const states: unknown[] = [];
    endTeamAccess.mockImplementation(async () => {
      const { disabledAt, role } = (await store.users.findUser(bob.id)) ?? {};
      states.push(disabledAt === null && role === 'member' ? 'before' : 'after');
    });
    await change();
    expect(states).toEqual(['before', 'after']);
    expect(ended).toHaveBeenCalledExactlyOnceWith(bob.id);
  });

  it.each([1, 2])(
    'loses it at the next attempt when the first one fails at end %i of two',
    async (number) => {
      for (let call = 1; call < number; call++) endTeamAccess.mockResolvedValueOnce();
      endTeamAccess.mockRejectedValueOnce(new Error('The store is away.'));
      await expect(change()).rejects.toThrow('The store is away.');
      await change();
      expect(endTeamAccess).toHaveBeenCalledTimes(number + 2);
      expect(ended).toHaveBeenCalledWith(bob.id);
    },
  );
});

describe('an admin who is made a member', () => {
  it('loses what was read inside of others, and nothing else', async () => {
    await store.users.insertUser({ ...alice, role: 'admin' });
    await users.update(bob.email, { role: 'admin', name: 'Bob' });
    await users.update(bob.email, { name: 'Bobby' });
    expect(ended).not.toHaveBeenCalled();
    await users.update(bob.email, { role: 'member' });
    expect(ended.mock.calls).toEqual([[`reading/${bob.id}`]]);
    expect(endTeamAccess).not.toHaveBeenCalled();
  });
});
