/** Deletions of users: everything goes in order, and what fails or is interrupted goes on. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import { type HeirDependencies, Heirs } from '../../../src/control/people/heirs.ts';
import { UserDeletions } from '../../../src/control/people/user-deletions.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';
import { type Quota, unlimited } from '../../../src/model/quota.ts';
import type { Caller } from '../../../src/model/user.ts';
import { snapshotRecord } from '../../store/conformance/snapshot-conformance.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const NOW = 1_000_000;
const caller: Caller = { ...alice, keyId: 'key_1', keyExpiresAt: null, scopes: null };

let store: ReturnType<typeof memoryStore>;
let unfinished: Unfinished;
let log: string[];
/** Fault of the machines; null: none. */
let fault: Error | null;
/** Of the heir. */
let quota: Quota;
let adminsReadInside: boolean;
const team = { id: 'team_0000000000000001', name: 'red', createdAt: NOW, quota: {} };

beforeEach(async () => {
  store = memoryStore();
  for (const user of [alice, bob]) await store.users.insertUser(user);
  for (const name of ['one', 'two'])
    await store.sandboxes.insert(sandboxRecord({ id: `sb_${name}`, name, ownerId: bob.id }));
  unfinished = new Unfinished((work) => void log.push(`failed: ${work}`));
  log = [];
  fault = null;
  quota = unlimited;
  adminsReadInside = true;
  await store.teams.insert(team);
});

/** A process of the service, over the store that they share. */
function deletionsOf(isMine = true): UserDeletions {
  const snapshots = {
    list: async () => store.snapshots.list(bob.id, { page: 1, pageSize: 100 }),
    delete: async (_: unknown, id: string) => void (await store.snapshots.delete(id)) as never,
  };
  const usage = async (id: string) => ({ ...(await store.sandboxes.usage(id)), snapshots: 0 });
  return new UserDeletions({
    heirs: new Heirs({
      ...{ store, adminsReadInside, machines: machines() },
      quotas: { usage, allowance: async (ownerId) => ({ ownerId, quota }) },
      snapshots: {
        give: async ({ id }, allowance) =>
          (await store.snapshots.give(id, allowance.ownerId, NOW, allowance)) !== null,
      },
      access: { revoke: async (id) => void log.push(`revoke ${id}`) as never },
      learning: { end: (id) => void log.push(`end learning of ${id}`) },
    }),
    store,
    users: {
      find: async (wanted) => {
        const user = await store.users.findUser(wanted);
        if (!user) throw notFound('user', 'There is no such user.');
        return user;
      },
      disable: async (id) => void log.push(`disable ${id}`) as never,
    },
    ...{ machines: machines(), snapshots },
    authorizations: { revoke: async ({ id }) => void log.push(`revoke ${id}`) as never },
    audit: { now: () => NOW, note: ({ action }, { userId }) => void log.push(`${action} of ${userId}`) },
    replicas: { isMine: () => isMine, onChange: () => {} },
    unfinished,
  });
}

function machines(): HeirDependencies['machines'] {
  return {
    command: async (id, { type }) => {
      log.push(`${type} ${id}`);
      if (fault) throw fault;
      const sandbox = await store.sandboxes.get(id);
      if (sandbox) await store.sandboxes.remove(id, sandbox.generation);
      return { sandbox: sandbox ?? sandboxRecord(), deleted: true };
    },
    async change(id, patch, then, allowance) {
      if (fault) throw fault;
      const sandbox = await store.sandboxes.get(id);
      if (!sandbox) throw notFound('sandbox', 'There is no such sandbox.');
      const wanted = patch(sandbox);
      const changed = wanted
        ? await store.sandboxes.update(id, sandbox.generation, wanted, allowance)
        : sandbox;
      if (changed) await then?.(changed, new AbortController().signal);
      return changed ?? sandbox;
    },
    recall: async ({ id, ownerId }) => void log.push(`recall ${id} of ${ownerId}`),
  };
}

const isThere = async () => (await store.users.findUser(bob.id)) !== null;

describe('a deletion', () => {
  it('ends open work first, then authorizations and sandboxes, and the user at last', async () => {
    const shown = await deletionsOf().delete(caller, bob.email);
    expect(shown).toMatchObject({ user: { id: bob.id }, owned: { sandboxes: 2, snapshots: 0 } });
    expect(log).toEqual([`disable ${bob.id}`, `revoke ${bob.id}`, 'delete sb_one', 'delete sb_two']);
    expect(await isThere()).toBe(false);
  });

  it('leaves a disabled user where a machine fails, and goes on by itself', async () => {
    fault = new SandhavenError('unavailable', 'The engine does not answer.');
    await expect(deletionsOf().delete(caller, bob.id)).rejects.toMatchObject({
      code: 'unavailable',
      message: `The user ${bob.email} is disabled, and not deleted yet. The engine does not answer.`,
    });
    expect(await store.users.findUser(bob.id)).toMatchObject({ disabledAt: NOW });
    await unfinished.turn();
    expect(await isThere()).toBe(true);
    fault = null;
    // The pause after a failure.
    await unfinished.turn();
    await unfinished.turn();
    expect(await isThere()).toBe(false);
    expect(log.at(-1)).toBe(`user.deleted of ${bob.id}`);
  });

  it('can be repeated while it is under way, and waits for the same work', async () => {
    const deletions = deletionsOf();
    await Promise.all([deletions.delete(caller, bob.id), deletions.delete(caller, bob.email)]);
    expect(log.filter((line) => line.startsWith('delete'))).toEqual(['delete sb_one', 'delete sb_two']);
  });

  it('that a killed process has begun is finished by the next one', async () => {
    await store.userDeletions.begin(bob.id, alice.id, NOW, null);
    await deletionsOf().resume();
    await unfinished.turn();
    expect(await isThere()).toBe(false);
    expect(log.at(-1)).toBe(`user.deleted of ${bob.id}`);
  });

  it('is finished by one of several replicas', async () => {
    await store.userDeletions.begin(bob.id, alice.id, NOW, null);
    await deletionsOf(false).resume();
    await unfinished.turn();
    expect(await isThere()).toBe(true);
  });

  it('passes over a sandbox that somebody else has just deleted', async () => {
    const gone = deletionsOf();
    const { names } = store.sandboxes;
    let first = true;
    store.sandboxes.names = async (...given) => {
      const rows = await names(...given);
      if (first) for (const { id } of rows) await store.sandboxes.remove(id, sandboxRecord().generation);
      if (first) fault = notFound('sandbox', 'There is no such sandbox.');
      first = false;
      return rows;
    };
    await gone.delete(caller, bob.id);
    expect(await isThere()).toBe(false);
  });

  it('takes neither the caller nor the last enabled admin', async () => {
    await expect(deletionsOf().delete(caller, alice.email)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: 'Nobody deletes their own user.',
    });
    const other = { ...caller, id: bob.id };
    await expect(deletionsOf().delete(other, alice.id)).rejects.toMatchObject({
      code: 'failed_precondition',
    });
    expect(log).toEqual([]);
  });
});

describe('a deletion with an heir', () => {
  const ownedBy = async (id: string) => (await store.sandboxes.names(id, 9)).map(({ name }) => name);
  const given = (code: string) => expect.objectContaining({ code });

  it('gives sandboxes and snapshots, without secrets and ways in, and deletes the rest', async () => {
    await store.sandboxes.update('sb_two', 1, {
      ...{ state: 'stopped', secretIds: ['sec_1'], creationKey: 'key', envVars: { A: 'b' } },
    });
    const credential = { sandboxId: 'sb_one', url: 'https://x', username: 'u', password: 'p' };
    await store.gitCredentials.put(credential);
    await store.snapshots.insert(
      snapshotRecord({ id: 'snap_1', name: 'a', state: 'active', ownerId: bob.id }),
    );
    await store.snapshots.insert(
      snapshotRecord({ id: 'snap_2', name: 'b', state: 'pulling', ownerId: bob.id }),
    );
    const shown = await deletionsOf().delete(caller, bob.id, 'RED');
    expect(shown.heir).toEqual({ id: team.id, name: 'red' });
    expect(await isThere()).toBe(false);
    expect(await ownedBy(team.id)).toEqual(['one', 'two']);
    expect(await store.sandboxes.get('sb_two')).toMatchObject({
      ...{ ownerId: team.id, state: 'stopped', secretIds: [], creationKey: null, envVars: { A: 'b' } },
    });
    expect(await store.gitCredentials.count('sb_one')).toBe(0);
    const kept = await store.snapshots.list(team.id, { page: 1, pageSize: 9 });
    expect(kept.snapshots.map(({ id }) => id)).toEqual(['snap_1']);
    expect(await store.snapshots.imagesInUse()).toBeDefined();
    expect(log.filter((line) => line.includes('sb_one'))).toEqual([
      ...['revoke sb_one', 'revoke sb_one', 'end learning of sb_one', `recall sb_one of ${team.id}`],
    ]);
    expect(log.filter((line) => line.startsWith('recall sb_two'))).toEqual([]);
    expect(log.filter((line) => line.includes('.given')).sort()).toEqual([
      ...[`sandbox.given of ${team.id}`, `sandbox.given of ${team.id}`, `snapshot.given of ${team.id}`],
    ]);
  });

  it('needs an operator who lets admins read inside', async () => {
    adminsReadInside = false;
    for (const work of [deletionsOf().delete, deletionsOf().shown])
      await expect(work.call(deletionsOf(), caller, bob.id, 'red')).rejects.toEqual(
        given('permission_denied'),
      );
    expect(await store.userDeletions.underWay()).toEqual([]);
  });

  it('takes nobody who is gone, disabled, a viewer or the deleted one', async () => {
    const off = { ...bob, id: 'user_off', email: 'off@example.org', disabledAt: 1 };
    const viewer = { ...bob, id: 'user_eye', email: 'eye@example.org', role: 'viewer' as const };
    for (const user of [off, viewer]) await store.users.insertUser(user);
    for (const to of [off.email, viewer.email, bob.email])
      await expect(deletionsOf().delete(caller, bob.id, to)).rejects.toEqual(given('failed_precondition'));
    await expect(deletionsOf().delete(caller, bob.id, 'none')).rejects.toEqual(given('not_found'));
    expect(log).toEqual([]);
  });

  it('is refused before it begins without room, and for names that both use', async () => {
    quota = { ...unlimited, sandboxes: 1 };
    await expect(deletionsOf().delete(caller, bob.id, 'red')).rejects.toMatchObject({
      code: 'resource_exhausted',
      message:
        'red has no room for all that goes there. The quota is 1 sandboxes: 0 are used, 1 are left, and 2 more were asked for.',
    });
    quota = unlimited;
    await store.sandboxes.insert(sandboxRecord({ id: 'sb_reds', name: 'two', ownerId: team.id }));
    await expect(deletionsOf().delete(caller, bob.id, 'red')).rejects.toMatchObject({
      ...{ code: 'already_exists', message: "red has some of these names already: sandbox 'two'." },
    });
    expect(await store.userDeletions.underWay()).toEqual([]);
    expect(log).toEqual([]);
  });

  it('deletes a sandbox that was being deleted', async () => {
    await store.sandboxes.update('sb_one', 1, { operation: 'deleting' });
    await deletionsOf().delete(caller, bob.id, alice.id);
    expect(await ownedBy(alice.id)).toEqual(['two']);
    expect(await store.sandboxes.get('sb_one')).toBeNull();
  });

  it('keeps its heir over a kill and a repetition without one, and takes another one that is named', async () => {
    fault = new SandhavenError('unavailable', 'The engine does not answer.');
    const refused = given('unavailable');
    await expect(deletionsOf().delete(caller, bob.id, alice.id)).rejects.toEqual(refused);
    await expect(deletionsOf().delete(caller, bob.id)).rejects.toEqual(refused);
    expect(await store.userDeletions.underWay()).toMatchObject([{ heirId: alice.id }]);
    await expect(deletionsOf().delete(caller, bob.id, 'red')).rejects.toEqual(refused);
    fault = null;
    unfinished = new Unfinished(() => {});
    await deletionsOf().resume();
    await unfinished.turn();
    expect(await ownedBy(team.id)).toEqual(['one', 'two']);
    expect(await isThere()).toBe(false);
  });
});
