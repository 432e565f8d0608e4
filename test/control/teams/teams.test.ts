/** Teams: for whom a caller acts, what ends when a member leaves, and what nobody else can name or guess. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CallerRights } from '../../../src/control/callers/caller-rights.ts';
import { Quotas } from '../../../src/control/callers/quotas.ts';
import { TeamAccess, TeamService } from '../../../src/control/people/teams.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import { resolveSandbox } from '../../../src/control/turns/resolve.ts';
import { isViewer } from '../../../src/model/scopes.ts';
import type { Caller } from '../../../src/model/user.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const members = { sandboxes: 5, cpu: 8, memory: 16, disk: 100, snapshots: 3 };
const key = { keyId: 'key_1', keyExpiresAt: null, scopes: null };
const { id, name, email } = bob;
const caller: Caller = { id, name, email, role: 'member', ...key };

let store: Store;
let teams: TeamService;
let callerRights: CallerRights;
let quotas: Quotas;
let revoked: string[];
/** Number of the revocation that fails, from 1. */
let failing: number | null;

beforeEach(async () => {
  store = memoryStore();
  await store.users.insertUser(alice);
  await store.users.insertUser(bob);
  revoked = [];
  failing = null;
  const access = {
    async revoke(sandboxId: string) {
      revoked.push(sandboxId);
      if (revoked.length === failing) throw new Error('The store is away.');
      return { ssh: 0, preview: 0 };
    },
  };
  quotas = new Quotas({ ...store, defaults: { everybody: {}, members } });
  callerRights = new CallerRights(store, Date);
  teams = new TeamService({
    networks: store.ownerNetworks,
    ...{ store: store.teams, users: store.users, quotas, callerRights, clock: Date },
    adminsReadInside: false,
    access: new TeamAccess(store.sandboxes, access),
  });
  await teams.create('red', {});
  await teams.create('blue', { cpu: 2 });
  await teams.setMember('red', bob.id, 'member');
  await teams.setMember('blue', alice.id, 'member');
});

describe('a caller who acts for a team', () => {
  it('works with what the team owns, and with nothing of their own', async () => {
    const red = await teams.find('red');
    await store.sandboxes.insert(sandboxRecord({ ownerId: red.id, name: 'shared' }));
    await store.sandboxes.insert(sandboxRecord({ ownerId: bob.id, name: 'own' }));
    const acting = await teams.acting(caller, 'RED');
    expect(await resolveSandbox(store.sandboxes, acting, 'shared')).toMatchObject({ ownerId: red.id });
    expect(await resolveSandbox(store.sandboxes, acting, undefined)).toMatchObject({ name: 'shared' });
    await expect(resolveSandbox(store.sandboxes, acting, 'own')).rejects.toMatchObject({ code: 'not_found' });
    await expect(resolveSandbox(store.sandboxes, caller, 'shared')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is the same as before where no team is named', async () => {
    expect(await teams.acting(caller, undefined)).toBe(caller);
  });

  it('counts the quota of the team', async () => {
    const [red, blue] = [await teams.find('red'), await teams.find('blue')];
    expect((await quotas.allowance(red.id)).quota).toEqual(members);
    expect((await quotas.allowance(blue.id)).quota).toEqual({ ...members, cpu: 2 });
  });

  it('changes nothing as a viewer of the team, nor as a viewer of the service', async () => {
    const viewer = await teams.acting({ ...caller, role: 'viewer' }, 'red');
    await teams.setMember('red', bob.id, 'viewer');
    const inTeam = await teams.acting(caller, 'red');
    for (const one of [viewer, inTeam]) {
      expect(isViewer(one)).toBe(true);
      expect(one.scopes).not.toContain('sandboxes:write');
    }
    expect(isViewer(await teams.acting(caller, undefined))).toBe(false);
  });
});

describe('a key that is bound to a team', () => {
  it('acts for it without a word, and is about nothing else', async () => {
    const { id: boundTo } = await teams.find('red');
    const acting = await teams.acting({ ...caller, role: 'admin', boundTo }, undefined);
    expect(acting).toMatchObject({ role: 'member', team: { id: boundTo, name: 'red', role: 'member' } });
    expect(acting.scopes).toEqual(['sandboxes:read', 'sandboxes:write', 'documents:read']);
  });

  it('acts for no other team, also one that its owner is in', async () => {
    const { id: boundTo } = await teams.find('red');
    await teams.setMember('blue', bob.id, 'member');
    const refused = { code: 'permission_denied' };
    await expect(teams.acting({ ...caller, boundTo }, 'blue')).rejects.toMatchObject(refused);
    expect(await teams.acting({ ...caller, boundTo }, 'red')).toMatchObject({ team: { id: boundTo } });
  });

  it('opens nothing once its owner has left', async () => {
    const { id: boundTo } = await teams.find('red');
    await teams.removeMember('red', bob.id);
    await expect(teams.acting({ ...caller, boundTo }, undefined)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('somebody who is in another team', () => {
  it('gets one answer for that team and for none, by name and by id', async () => {
    const blue = await teams.find('blue');
    const answer = async (wanted: string) => {
      const error = await teams.acting(caller, wanted).then(
        () => null,
        ({ code, message, fields }) => JSON.stringify([code, message, fields]),
      );
      return error?.replaceAll(wanted, 'X');
    };
    const ofNone = await answer('nobody');
    expect(ofNone).toContain('not_found');
    for (const wanted of [blue.id, 'blue', 'BLUE', 'team_0000000000000000', bob.id, alice.id, '%', '*']) {
      expect(await answer(wanted), wanted).toBe(ofNone);
    }
  });

  it('finds none of its sandboxes, by name or by id', async () => {
    const blue = await teams.find('blue');
    const box = sandboxRecord({ ownerId: blue.id, name: 'secret' });
    await store.sandboxes.insert(box);
    for (const who of [caller, await teams.acting(caller, 'red')]) {
      for (const wanted of [box.id, 'secret']) {
        await expect(resolveSandbox(store.sandboxes, who, wanted)).rejects.toMatchObject({
          code: 'not_found',
          message: `There is no sandbox '${wanted}'.`,
        });
      }
      await expect(resolveSandbox(store.sandboxes, who, undefined)).rejects.toMatchObject({
        message: 'No sandbox was named, and there is none.',
      });
    }
  });

  it('does not see it in the list', async () => {
    const { teams: seen, totalCount } = await teams.list(caller, { page: 1, pageSize: 10 });
    expect(seen.map(({ team }) => team.name)).toEqual(['red']);
    expect(totalCount).toBe(1);
  });
});

describe('a member who leaves', () => {
  const open = async (who: Caller) => {
    const end = vi.fn();
    callerRights.whileValid(who, end);
    return end;
  };

  it('loses open work for the team at once, and no other work', async () => {
    await teams.setMember('red', alice.id, 'member');
    const ended = await open(await teams.acting(caller, 'red'));
    const own = await open(caller);
    const others = await open(await teams.acting({ ...caller, id: alice.id, keyId: 'key_2' }, 'red'));
    await teams.removeMember('red', bob.email);
    expect(ended).toHaveBeenCalledOnce();
    expect(own).not.toHaveBeenCalled();
    expect(others).not.toHaveBeenCalled();
  });

  it('loses it too when the role changes', async () => {
    const ended = await open(await teams.acting(caller, 'red'));
    await teams.setMember('red', bob.id, 'viewer');
    expect(ended).toHaveBeenCalledOnce();
  });

  it('loses it also where the news of it was missed', async () => {
    const { id: keyId } = await store.keys.add(bob.id, 'shv_bob', {
      name: '',
      createdAt: 1,
      expiresAt: null,
    });
    const unheard = await open(await teams.acting({ ...caller, keyId }, 'red'));
    await callerRights.recheck();
    expect(unheard).not.toHaveBeenCalled();
    await store.teams.removeMember((await teams.find('red')).id, bob.id);
    await callerRights.recheck();
    expect(unheard).toHaveBeenCalledOnce();
  });

  it('takes along all access to the sandboxes of the team, since tokens name nobody', async () => {
    const [red, blue] = [await teams.find('red'), await teams.find('blue')];
    const box = sandboxRecord({ ownerId: red.id });
    for (const one of [box, sandboxRecord({ ownerId: blue.id }), sandboxRecord({ ownerId: bob.id })]) {
      await store.sandboxes.insert(one);
    }
    await teams.removeMember('red', bob.id);
    expect(new Set(revoked)).toEqual(new Set([box.id]));
  });

  it.each([1, 2])('takes it along at the next attempt when revocation %i of two fails', async (number) => {
    const { id: ownerId } = await teams.find('red');
    await store.sandboxes.insert(sandboxRecord({ ownerId }));
    failing = number;
    await expect(teams.setMember('red', bob.id, 'viewer')).rejects.toThrow('The store is away.');
    await teams.setMember('red', bob.id, 'viewer');
    expect(revoked).toHaveLength(number + 2);
    [revoked, failing] = [[], number];
    await expect(teams.removeMember('red', bob.id)).rejects.toThrow('The store is away.');
    const again = teams.removeMember('red', bob.id);
    if (number === 1) await again;
    else await expect(again).rejects.toMatchObject({ code: 'not_found' });
    expect(revoked).toHaveLength(number + 2);
  });

  it('takes it along from all teams when the user is disabled', async () => {
    await teams.setMember('blue', bob.id, 'viewer');
    const boxes = [];
    for (const team of ['red', 'blue']) {
      const box = sandboxRecord({ ownerId: (await teams.find(team)).id });
      await store.sandboxes.insert(box);
      boxes.push(box.id);
    }
    await teams.endAccessOf(bob.id);
    expect(revoked).toEqual(boxes);
  });
});
