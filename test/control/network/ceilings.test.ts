/** Default networks and ceilings of owners, over a whole control layer: who gets which, and what holds where they run. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CreateRequest } from '../../../src/control/lifecycle/creation.ts';
import type { OwnerNetworkChange } from '../../../src/control/network/owner-networks.ts';
import { noNetwork, parseNetworkText } from '../../../src/model/network/setting.ts';
import { snapshotRecord } from '../../store/conformance/snapshot-conformance.ts';
import { alice, bob } from '../../store/fixtures.ts';
import { type Control, Installation, rulesOf } from './service-of-networks.ts';

const request: CreateRequest = {
  ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
  ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
};
const A = 'https://a.example.com';
const B = 'https://b.example.com';
const both = { allow: [A, B] };
const onlyA = { allow: [A] };

let installation: Installation;
let service: Control;

beforeEach(async () => {
  installation = new Installation();
  await installation.enrol();
  await installation.store.users.insertUser(bob);
  await restart();
});

afterEach(() => service.close());

async function restart(options: Parameters<Installation['open']>[0] = {}): Promise<void> {
  service = installation.open(options);
  await service.reconcile();
}

const create = (more: Partial<CreateRequest> = {}, caller = alice) =>
  service.services.sandboxes.create(caller, { ...request, ...more });
const set = (change: OwnerNetworkChange, { id, name } = alice as { id: string; name: string }) =>
  service.services.ownerNetworks.set({ id, name }, change);
const inForce = (id: string) => installation.inForce(id);

async function haveSnapshot(network: ReturnType<typeof rulesOf> | null): Promise<void> {
  // An image that the engine in memory has.
  const image = await service.services.snapshots.get(alice, 'base');
  await installation.store.snapshots.insert(
    snapshotRecord({
      name: 'tools',
      state: 'active',
      image: 'base',
      imageDigest: image.imageDigest,
      network,
    }),
  );
}

describe('the network of a creation', () => {
  it("is the caller's, else the snapshot's, else the owner's, else the installation's", async () => {
    await restart({ defaultNetwork: parseNetworkText('default', 'https://of.installation.test') });
    await haveSnapshot(rulesOf('https://of.snapshot.test'));
    expect((await create()).network.allow).toEqual(['https://of.installation.test']);
    await set({ usual: { allow: ['https://of.owner.test'] } });
    expect((await create()).network.allow).toEqual(['https://of.owner.test']);
    expect((await create({}, bob)).network.allow).toEqual(['https://of.installation.test']);
    const made = await create({ snapshot: 'tools' });
    expect([made.network.allow, inForce(made.id)]).toEqual([
      ['https://of.snapshot.test'],
      'https://of.snapshot.test',
    ]);
    expect((await create({ snapshot: 'tools', network: 'none' })).network).toEqual(noNetwork);
    await service.services.snapshots.setNetwork(alice, 'tools', 'default');
    expect((await create({ snapshot: 'tools' })).network.allow).toEqual(['https://of.owner.test']);
    await set({ usual: 'default' });
    expect((await create()).network.allow).toEqual(['https://of.installation.test']);
  });

  it('of a snapshot is in force within the ceiling', async () => {
    await haveSnapshot(rulesOf(A, B));
    await set({ most: onlyA });
    const { id, network } = await create({ snapshot: 'tools' });
    expect([network.allow, inForce(id)]).toEqual([[A, B], A]);
  });

  it("changes with the snapshot's for later sandboxes alone, and is forgotten with it", async () => {
    await haveSnapshot(null);
    const before = await create({ snapshot: 'tools' });
    const { snapshots } = service.services;
    expect(await snapshots.setNetwork(alice, 'tools', onlyA)).toMatchObject({ network: rulesOf(A) });
    expect([inForce(before.id), (await create({ snapshot: 'tools' })).network]).toEqual(['open', rulesOf(A)]);
    await snapshots.delete(alice, 'tools');
    await haveSnapshot(null);
    expect((await create({ snapshot: 'tools' })).network.mode).toBe('open');
  });

  it("is set for one's own snapshots alone, with rules that a sandbox may have", async () => {
    await haveSnapshot(null);
    const { snapshots } = service.services;
    await expect(snapshots.setNetwork(bob, 'tools', 'none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(snapshots.setNetwork(alice, 'base', 'none')).rejects.toMatchObject({
      code: 'permission_denied',
    });
    await expect(snapshots.setNetwork(alice, 'tools', { allow: ['*.co.uk'] })).rejects.toMatchObject({
      ...{ code: 'invalid_argument', fields: { parameter: 'network' } },
    });
  });
});

describe('the ceiling of an owner', () => {
  it('holds at a creation, at each start and over a restart, and leaves what is set', async () => {
    await set({ most: onlyA });
    const [open, ruled] = [await create(), await create({ network: both })];
    expect([inForce(open.id), inForce(ruled.id), ruled.network.allow]).toEqual([A, A, [A, B]]);
    await service.services.sandboxes.stop(alice, open.id);
    await service.services.sandboxes.start(alice, open.id);
    expect(inForce(open.id)).toBe(A);
    await restart();
    expect([inForce(open.id), inForce(ruled.id)]).toEqual([A, A]);
    expect(await service.services.networks.get(alice, open.id)).toMatchObject({
      ...{ setting: { mode: 'open' }, inForce: { mode: 'rules', rules: [{ text: A }] } },
    });
  });

  it('is put in force in what runs, and in nothing of others', async () => {
    const [open, ruled, closed] = [await create(), await create({ network: both }), await create()];
    await service.services.sandboxes.stop(alice, closed.id);
    const other = await create({}, bob);
    expect((await set({ most: onlyA })).inForce).toMatchObject({ mode: 'rules', rules: [{ text: A }] });
    expect([open, ruled, closed, other].map(({ id }) => inForce(id))).toEqual([A, A, null, 'open']);
    await set({ most: 'none' });
    expect([inForce(open.id), inForce(ruled.id)]).toEqual(['none', 'none']);
    await set({ most: 'default' });
    expect([inForce(open.id), inForce(ruled.id)]).toEqual(['open', `${A} ${B}`]);
  });

  it("narrows the installation's, and never widens it", async () => {
    await restart({ mostNetwork: parseNetworkText('most', A) });
    const { id } = await create();
    for (const wider of ['open', both] as const) {
      await set({ most: wider });
      expect(inForce(id)).toBe(A);
    }
    await set({ most: { allow: [B] } });
    expect(inForce(id)).toBe('');
  });

  it('holds whatever the caller asks for: at a change, and for rules that are added', async () => {
    await set({ most: onlyA });
    const { id } = await create({ network: 'none' });
    const { networks } = service.services;
    for (const change of [
      () => networks.set(alice, id, 'open'),
      () => networks.set(alice, id, both),
      () => networks.allow(alice, id, ['llm']),
    ]) {
      expect((await change()).inForce).toMatchObject({ rules: [{ text: A }] });
      expect(inForce(id)).toBe(A);
    }
  });

  it('that a kill left stored and not in force is in force after the restart', async () => {
    const { id } = await create();
    await installation.store.ownerNetworks.set(alice.id, { most: rulesOf(A) });
    await restart();
    expect(inForce(id)).toBe(A);
  });

  it('that the engine cannot put in force closes the network, says so, and holds once it can', async () => {
    const { id } = await create();
    const failing = 'engine: put the network in force';
    let failures = 1;
    installation.point = async (label) => {
      if (label === failing && failures-- > 0) throw new Error('no');
    };
    await expect(set({ most: onlyA })).rejects.toMatchObject({
      ...{ code: 'unavailable', message: expect.stringContaining("the ceiling of 'Alice' is stored") },
    });
    expect([inForce(id), await installation.store.ownerNetworks.of(alice.id)]).toEqual([
      'none',
      { usual: null, most: rulesOf(A) },
    ]);
    await set({ most: onlyA });
    expect(inForce(id)).toBe(A);
  });

  it('of a team is for what the team owns, and that of a member for nothing of it', async () => {
    const { teams } = service.services;
    const { team } = await teams.create('red', {});
    await teams.setMember('red', alice.id, 'member');
    const forTeam = { ...alice, team: { id: team.id, name: 'red', role: 'member' as const } };
    const [mine, ours] = [await create(), await create({}, forTeam)];
    await set({ most: onlyA });
    expect([inForce(mine.id), inForce(ours.id)]).toEqual([A, 'open']);
    await set({ most: { allow: [B] }, usual: 'none' }, team);
    expect([inForce(mine.id), inForce(ours.id)]).toEqual([A, B]);
    expect((await create({}, forTeam)).network).toEqual(noNetwork);
  });

  it('holds for what a disabled user left running', async () => {
    const { id } = await create({}, bob);
    await installation.store.users.updateUser(bob.id, () => ({ disabledAt: 1 }));
    await set({ most: onlyA }, bob);
    expect(inForce(id)).toBe(A);
    await restart();
    expect(inForce(id)).toBe(A);
  });

  it('is what a sandbox learns within, also one that is set meanwhile', async () => {
    const { id } = await create();
    const { learning } = service.services;
    const learned = () => installation.host.networks.get(id);
    await set({ most: both });
    await learning.start(alice, id, 10);
    expect(learned()).toMatchObject({ mode: 'learn', open: false, rules: [{ text: A }, { text: B }] });
    await set({ most: onlyA });
    expect(learned()).toMatchObject({ mode: 'learn', open: false, rules: [{ text: A }] });
    await set({ most: 'none' });
    expect(learned()).toEqual({ mode: 'none' });
    await expect(learning.start(alice, id, 10)).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('is shown without a change when nothing is given', async () => {
    await set({ most: onlyA, usual: 'none' });
    expect(await set({})).toMatchObject({ usual: noNetwork, most: rulesOf(A), inForce: { mode: 'rules' } });
  });

  it.each([
    [{ most: { allow: ['*.co.uk'] } }, 'invalid_argument', 'most_network'],
    [{ usual: { allow: ['gopher://a.b'] } }, 'invalid_argument', 'default_network.allow'],
    [{ most: { profiles: ['games'] } }, 'invalid_argument', 'most_network.profiles'],
  ])('%j is refused before anything happens', async (change, code, parameter) => {
    await expect(set(change as OwnerNetworkChange)).rejects.toMatchObject({ code, fields: { parameter } });
    expect(await installation.store.ownerNetworks.of(alice.id)).toEqual({ usual: null, most: null });
  });
});

describe('a sandbox of the warm pool', () => {
  const pooled = async (options: Parameters<Installation['open']>[0] = {}) => {
    await restart({ warmPool: { min: 1, max: 1 }, ...options });
    service.pool.refill(0);
    await vi.waitFor(async () => expect(await installation.store.sandboxes.pool()).toHaveLength(1));
    return (await installation.store.sandboxes.pool())[0]?.id ?? '';
  };

  it('has the ceiling of its owner in force when its caller gets it', async () => {
    const id = await pooled();
    await set({ most: onlyA });
    expect(inForce(id)).toBe('open');
    expect([(await create()).id, inForce(id)]).toEqual([id, A]);
  });

  it('has that of the claim in force that was set while it was claimed', async () => {
    const id = await pooled();
    const { claim } = installation.store.sandboxes;
    installation.store.sandboxes.claim = async (...given) => {
      const claimed = await claim(...given);
      // Listed before the claim, as if its commit came later.
      await installation.store.ownerNetworks.set(alice.id, { most: rulesOf(A) });
      return claimed;
    };
    expect([(await create()).id, inForce(id)]).toEqual([id, A]);
  });
});
