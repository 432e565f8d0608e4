/** Quota of each user: defaults by role, an operator's and an admin's changes, and the early check before a creation. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Quotas } from '../../../src/control/callers/quotas.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import type { Quota } from '../../../src/model/quota.ts';
import type { Account } from '../../../src/model/user.ts';
import { snapshotRecord } from '../../store/conformance/snapshot-conformance.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const members: Quota = { sandboxes: 5, cpu: 8, memory: 16, disk: 100, snapshots: 3 };
const none: Quota = { sandboxes: null, cpu: null, memory: null, disk: null, snapshots: null };
const small = { cpu: 1, memory: 1, disk: 1, gpu: 0 };

let store: Store;
let counted: number;

beforeEach(() => {
  store = memoryStore();
  counted = 0;
});

function quotas(everybody: Partial<Quota> = {}): Quotas {
  return new Quotas({
    users: store.users,
    teams: store.teams,
    sandboxes: {
      usage: (ownerId) => {
        counted++;
        return store.sandboxes.usage(ownerId);
      },
    },
    snapshots: store.snapshots,
    defaults: { everybody, members },
  });
}

async function have(account: Account, quota: Partial<Quota> = {}): Promise<void> {
  await store.users.insertUser({ ...account, quota });
}

describe('the quota', () => {
  it('of a member is the default of members, of an admin without a limit', () => {
    expect(quotas().of({ role: 'member', quota: {} })).toEqual(members);
    expect(quotas().of({ role: 'admin', quota: {} })).toEqual(none);
  });

  it.each(['member', 'admin'] as const)("of a %s follows the operator's settings, kind by kind", (role) => {
    const before = role === 'admin' ? none : members;
    expect(quotas({ cpu: 4, disk: null }).of({ role, quota: {} })).toEqual({ ...before, cpu: 4, disk: null });
  });

  it.each(['member', 'admin'] as const)(
    "of a %s follows an admin's change before all others, 0 and no limit included",
    (role) => {
      const changed = { sandboxes: 0, cpu: 2, memory: null };
      const quota = quotas({ sandboxes: 7, cpu: 4, memory: 9, disk: 9, snapshots: 9 }).of({
        role,
        quota: changed,
      });
      expect(quota).toEqual({ sandboxes: 0, cpu: 2, memory: null, disk: 9, snapshots: 9 });
    },
  );
});

describe('the allowance', () => {
  it('of a user is their quota, under their id', async () => {
    await have(bob, { cpu: 1 });
    const expected = { ownerId: 'user_bob', quota: { ...members, cpu: 1 } };
    expect(await quotas().allowance('user_bob')).toEqual(expected);
  });

  it("of an admin follows the admin's role", async () => {
    await have(alice);
    expect(await quotas().allowance('user_alice')).toEqual({ ownerId: 'user_alice', quota: none });
  });

  it("of an unknown user is a member's, with the operator's settings", async () => {
    const expected = { ownerId: 'user_none', quota: { ...members, disk: 50 } };
    expect(await quotas({ disk: 50 }).allowance('user_none')).toEqual(expected);
  });
});

it('the usage counts sandboxes, their resources and snapshots of one owner', async () => {
  await store.sandboxes.insert(sandboxRecord({ ownerId: bob.id }));
  await store.sandboxes.insert(sandboxRecord({ ownerId: bob.id, state: 'stopped' }));
  await store.sandboxes.insert(sandboxRecord());
  await store.snapshots.insert(snapshotRecord({ ownerId: bob.id }));
  await store.snapshots.insert(snapshotRecord());
  const expected = { sandboxes: 2, cpu: 2, memory: 4, disk: 40, snapshots: 1 };
  expect(await quotas().usage('user_bob')).toEqual(expected);
});

describe('the early check', () => {
  beforeEach(async () => {
    const resources = { cpu: 2, memory: 4, disk: 20, gpu: 0 };
    await store.sandboxes.insert(sandboxRecord({ ownerId: bob.id, resources }));
  });

  it('lets the last of every kind be taken', async () => {
    await have(bob, { sandboxes: 2, cpu: 5, memory: 10, disk: 50 });
    const check = quotas().assertRoomFor('user_bob', { cpu: 3, memory: 6, disk: 30, gpu: 8 });
    await expect(check).resolves.toBeUndefined();
  });

  it.each([
    [{ sandboxes: 1 }, small, 'The quota is 1 sandboxes: 1 are used, 0 are left, and 1 more were asked for.'],
    [
      { cpu: 4 },
      { ...small, cpu: 3 },
      'The quota is 4 vCPUs of running sandboxes: 2 are used, 2 are left, and 3 more were asked for.',
    ],
    [
      { memory: 9 },
      { ...small, memory: 6 },
      'The quota is 9 GB of memory of running sandboxes: 4 are used, 5 are left, and 6 more were asked for.',
    ],
    [
      { disk: 49 },
      { ...small, disk: 30 },
      'The quota is 49 GB of disk: 20 are used, 29 are left, and 30 more were asked for.',
    ],
  ])('[WIRE-BOX-22] refuses one more than %o', async (quota, resources, message) => {
    await have(bob, quota);
    const refusal = { code: 'resource_exhausted', message };
    await expect(quotas().assertRoomFor('user_bob', resources)).rejects.toMatchObject(refusal);
  });

  it('leaves snapshots out, which a sandbox takes none of', async () => {
    await store.snapshots.insert(snapshotRecord({ ownerId: bob.id }));
    await have(bob, { snapshots: 0 });
    await expect(quotas().assertRoomFor('user_bob', small)).resolves.toBeUndefined();
  });

  it('counts nothing for a user without a limit', async () => {
    await have(alice);
    await quotas().assertRoomFor('user_alice', { cpu: 16, memory: 64, disk: 200, gpu: 8 });
    expect(counted).toBe(0);
  });
});
