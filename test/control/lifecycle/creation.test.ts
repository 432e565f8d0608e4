/** Creation from the warm pool: as it is, with other sizes or another network, and beside it where neither fits. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Quotas } from '../../../src/control/callers/quotas.ts';
import { type CreateRequest, Creation } from '../../../src/control/lifecycle/creation.ts';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import type {
  Image,
  Images,
  OwnerNetworkStore,
  Runtime,
  RuntimeCapabilities,
  SandboxStore,
  SnapshotStore,
} from '../../../src/control/ports/index.ts';
import { type InstallationNetworks, NetworkBounds } from '../../../src/control/reach/bounds.ts';
import { Networks } from '../../../src/control/reach/networks.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { noNetwork, openNetwork } from '../../../src/model/network/setting.ts';
import { unlimited } from '../../../src/model/quota.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { snapshotRecord } from '../../store/conformance/snapshot-conformance.ts';
import { alice, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const request: CreateRequest = {
  name: 'mine',
  language: 'python',
  envVars: {},
  autoStopMinutes: 15,
  cpu: 2,
  memory: 4,
  disk: 20,
  gpu: 0,
  labels: {},
  ephemeral: false,
};

let store: SandboxStore;
let snapshots: SnapshotStore;
let pooled: Sandbox;
let wanted: number;
let made: string[];
/** Fails the resize of a claimed sandbox. */
let refusal: SandhavenError | null;
/** Networks of claimed sandboxes that were changed, and whether the engine can. */
let fitted: Sandbox['network'][];
let capabilities: Pick<RuntimeCapabilities, 'networkPolicies'>;
let installation: InstallationNetworks;
let ownerNetworks: OwnerNetworkStore;
/** Called in the sandbox's turn by the change of a ceiling. */
let caughtUp: string[];

beforeEach(async () => {
  const stores = memoryStore();
  await stores.users.insertUser(alice);
  ({ sandboxes: store, snapshots } = stores);
  ownerNetworks = stores.ownerNetworks;
  caughtUp = [];
  pooled = sandboxRecord({
    ...{ ownerId: null, state: 'started', operation: null, runGeneration: 1, generation: 1 },
    ...{ image: 'base', imageDigest: 'sha256:base', resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 } },
  });
  await store.insert(pooled);
  wanted = 0;
  made = [];
  refusal = null;
  fitted = [];
  capabilities = { networkPolicies: true };
  installation = { usual: openNetwork, most: openNetwork };
});

const settle = async (sandbox: Sandbox): Promise<Sandbox> =>
  (await store.update(sandbox.id, sandbox.generation, { operation: null })) ?? sandbox;

const machines: Pick<Machines, 'create' | 'fit'> = {
  async create(sandbox) {
    made.push(sandbox.id);
    return settle(sandbox);
  },
  // As the real one: a failure leaves neither machine nor row.
  async fit(sandbox) {
    fitted.push(sandbox.network);
    if (!refusal) return settle(sandbox);
    await store.remove(sandbox.id, sandbox.generation);
    throw refusal;
  },
};

const enough = { freeGpus: 0, freeSlots: 1, freeMemoryBytes: 1, reserveMemoryBytes: 1, freeDiskBytes: 1 };

function create(changes: Partial<CreateRequest> = {}): Promise<Sandbox> {
  return newCreation().create(alice, { ...request, ...changes });
}

function newCreation(): Creation {
  return new Creation({
    store,
    snapshots,
    runtime: {
      assign() {},
      capacity: async () => ({ ...enough, reserveDiskBytes: 1 }),
    } as unknown as Runtime,
    images: { use: (_wanted, work) => work({ digest: 'sha256:base' } as Image) } as Images,
    machines: machines as Machines,
    quotas: {
      assertRoomFor: async () => {},
      allowance: async (ownerId: string) => ({ ownerId, quota: unlimited }),
    } as unknown as Quotas,
    networks: new Networks({
      ...{ runtime: { capabilities } as Runtime, unfinished: { add() {} } },
      bounds: new NetworkBounds(ownerNetworks, installation),
      ...{ secrets: { of: async () => [] }, inTurn: async (id) => void caughtUp.push(id) },
      log: { info() {}, warn() {}, error() {} },
    }),
    secrets: { accept: async (_, names = []) => names.map((name) => `se_${name}`) },
    disks: { assertRoomFor: async () => {} },
    regionId: 'home',
    clock: { now: () => 7 },
    onWanted: () => void wanted++,
  });
}

describe('a creation', () => {
  it('makes one of an id that was drawn before, and takes none of the pool for it', async () => {
    expect(await create({ id: 'sb_0123456789abcdef' })).toMatchObject({ id: 'sb_0123456789abcdef' });
    expect([made, wanted]).toEqual([['sb_0123456789abcdef'], 0]);
  });

  it('claims a sandbox that is as wanted', async () => {
    expect(await create()).toMatchObject({ id: pooled.id, ownerId: alice.id, name: 'mine', operation: null });
    expect([made.length, wanted]).toEqual([0, 1]);
  });

  it('with secrets claims one, and gives them to it before it is settled', async () => {
    const made = await create({ secrets: ['stripe'] });
    expect(made).toMatchObject({ id: pooled.id, secretIds: ['se_stripe'], operation: null });
    expect(fitted).toHaveLength(1);
  });

  it('[WIRE-USER-03] has the user that is asked for, else its snapshot’s, else none', async () => {
    const image = { image: 'debian:13', imageDigest: 'sha256:debian' };
    await snapshots.insert(snapshotRecord({ ...image, name: 'tools', state: 'active', user: 'ann' }));
    const userOf = async (changes: Partial<CreateRequest>) => (await create(changes)).user;
    expect(await userOf({ name: 'a', user: '1000' })).toBe('1000');
    expect(await userOf({ name: 'b', snapshot: 'tools' })).toBe('ann');
    expect(await userOf({ name: 'c', snapshot: 'tools', user: 'root' })).toBe('root');
    expect(await userOf({ name: 'd' })).toBeNull();
  });

  it('claims one of other sizes, and resizes it', async () => {
    const resources = { cpu: 1, memory: 2, disk: 20, gpu: 0 };
    expect(await create({ cpu: 1, memory: 2 })).toMatchObject({ id: pooled.id, resources, operation: null });
  });

  it.each([
    ['has no room for the sizes', 'resource_exhausted'],
    ['does not answer', 'unavailable'],
    ['has an agent that knows no secrets', 'failed_precondition'],
  ] as const)('makes another where the node of a claimed one %s, which goes', async (_, code) => {
    refusal = new SandhavenError(code, 'It was not resized.');
    const { id, name } = await create({ cpu: 8 });
    expect([made, name]).toEqual([[id], 'mine']);
    expect((await store.all()).map((row) => row.id)).toEqual([id]);
  });

  it('fails with any other failure of the resize', async () => {
    refusal = new SandhavenError('invalid_state', 'Another operation came in between.');
    await expect(create({ cpu: 8 })).rejects.toBe(refusal);
    expect([made, await store.all()]).toEqual([[], []]);
  });

  it('is counted once it has succeeded: warm of the pool, cold of a new machine', async () => {
    const creation = newCreation();
    await creation.create(alice, request);
    await creation.create(alice, { ...request, name: 'second' });
    await creation.create(alice, { ...request, name: 'third' });
    await expect(creation.create(alice, { ...request, name: 'third' })).rejects.toMatchObject({
      code: 'already_exists',
    });
    expect([creation.made.warm.count, creation.made.cold.count]).toEqual([1, 2]);
  });

  it('counts as demand when the pool is empty, and not when no pool could give it', async () => {
    await create();
    await create({ name: 'second' });
    expect(wanted).toBe(2);
    await create({ name: 'third', image: 'debian:13' });
    await create({ name: 'fourth', disk: 30 });
    expect([made.length, wanted]).toEqual([3, 2]);
  });
});

describe('the ceiling of a creation', () => {
  const rules = { mode: 'rules' as const, profiles: ['git'], allow: [] };

  it('of its owner is put in force in a claimed sandbox, and in none of another', async () => {
    await ownerNetworks.set(alice.id, { most: rules });
    expect(await create()).toMatchObject({ id: pooled.id, network: openNetwork });
    expect([fitted, caughtUp]).toEqual([[openNetwork], []]);
  });

  it('that was set meanwhile is put in force at the end', async () => {
    const { claim } = store;
    store.claim = async (...given) => {
      const claimed = await claim(...given);
      await ownerNetworks.set(alice.id, { most: rules });
      return claimed;
    };
    await create();
    expect([fitted, caughtUp]).toEqual([[], [pooled.id]]);
  });
});

describe('the network of a creation', () => {
  const rules = { mode: 'rules', profiles: ['git'], allow: ['https://a.example.com'] } as const;

  it('is the usual one, which a sandbox of the pool has already', async () => {
    expect(await create()).toMatchObject({ id: pooled.id, network: { mode: 'open' } });
    expect(fitted).toEqual([]);
  });

  it('is given to a claimed sandbox before its caller gets it', async () => {
    const request = { profiles: ['git'], allow: ['HTTPS://A.example.com'] };
    expect(await create({ network: request })).toMatchObject({ id: pooled.id, network: rules });
    expect(fitted).toEqual([rules]);
    expect((await store.get(pooled.id))?.network).toEqual(rules);
  });

  it('is put in force for the owner where it has rules, usual or not', async () => {
    installation = { usual: openNetwork, most: { mode: 'rules', profiles: ['git'], allow: [] } };
    expect(await create()).toMatchObject({ id: pooled.id, network: openNetwork });
    expect(fitted).toEqual([openNetwork]);
  });

  it('is stored with a new sandbox', async () => {
    const { id } = await create({ disk: 30, network: 'none' });
    expect(made).toEqual([id]);
    expect((await store.get(id))?.network).toEqual(noNetwork);
  });

  it.each([
    [{ allow: ['nonsense'] }, 'network.allow'],
    [{ profiles: ['nonsense'] }, 'network.profiles'],
    [{ allow: ['https://*.co.uk'] }, 'network'],
  ])('is refused before anything happens: %j', async (network, parameter) => {
    await expect(create({ network })).rejects.toMatchObject({
      ...{ code: 'invalid_argument', fields: { parameter } },
    });
    expect([made, wanted, await store.all()]).toEqual([[], 0, [pooled]]);
  });

  it('is refused, but for open, where the engine has no policies', async () => {
    capabilities = { networkPolicies: false };
    await expect(create({ network: 'none' })).rejects.toMatchObject({
      ...{ code: 'failed_precondition', fields: { parameter: 'network' } },
    });
    expect(await store.all()).toEqual([pooled]);
    expect(await create({ network: 'open' })).toMatchObject({ id: pooled.id });
  });
});
