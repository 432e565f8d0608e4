/** Deletions of users: everything goes in order, and what fails or is interrupted goes on. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import { UserDeletions } from '../../../src/control/people/user-deletions.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';
import type { Caller } from '../../../src/model/user.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const NOW = 1_000_000;
const caller: Caller = { ...alice, keyId: 'key_1', keyExpiresAt: null, scopes: null };

let store: ReturnType<typeof memoryStore>;
let unfinished: Unfinished;
let log: string[];
/** Fault of the machines; null: none. */
let fault: Error | null;

beforeEach(async () => {
  store = memoryStore();
  for (const user of [alice, bob]) await store.users.insertUser(user);
  for (const name of ['one', 'two'])
    await store.sandboxes.insert(sandboxRecord({ id: `sb_${name}`, name, ownerId: bob.id }));
  unfinished = new Unfinished((work) => void log.push(`failed: ${work}`));
  log = [];
  fault = null;
});

/** A process of the service, over the store that they share. */
function deletionsOf(isMine = true): UserDeletions {
  return new UserDeletions({
    store,
    users: {
      find: async (wanted) => {
        const user = await store.users.findUser(wanted);
        if (!user) throw notFound('user', 'There is no such user.');
        return user;
      },
      disable: async (id) => void log.push(`disable ${id}`) as never,
    },
    machines: {
      command: async (id, { type }) => {
        log.push(`${type} ${id}`);
        if (fault) throw fault;
        const sandbox = await store.sandboxes.get(id);
        if (sandbox) await store.sandboxes.remove(id, sandbox.generation);
        return { sandbox: sandbox ?? sandboxRecord(), deleted: true };
      },
    },
    snapshots: { list: async () => ({ snapshots: [], totalCount: 0 }), delete: async () => ({}) as never },
    authorizations: { revoke: async ({ id }) => void log.push(`revoke ${id}`) as never },
    audit: { now: () => NOW, note: ({ action }, { userId }) => void log.push(`${action} of ${userId}`) },
    replicas: { isMine: () => isMine, onChange: () => {} },
    unfinished,
  });
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
    await store.userDeletions.begin(bob.id, alice.id, NOW);
    await deletionsOf().resume();
    await unfinished.turn();
    expect(await isThere()).toBe(false);
    expect(log.at(-1)).toBe(`user.deleted of ${bob.id}`);
  });

  it('is finished by one of several replicas', async () => {
    await store.userDeletions.begin(bob.id, alice.id, NOW);
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
