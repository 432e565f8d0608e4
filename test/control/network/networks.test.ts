/** Network policies of machines: what is put in force, and what a failure of the engine leaves. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import { Machines, type MachinesDependencies } from '../../../src/control/lifecycle/machines.ts';
import { Learning } from '../../../src/control/network/learning.ts';
import { NetworkLog } from '../../../src/control/network/network-log.ts';
import { NetworkService } from '../../../src/control/network/network-service.ts';
import type { OwnerNetworkStore, SandboxStore } from '../../../src/control/ports/index.ts';
import { type InstallationNetworks, NetworkBounds } from '../../../src/control/reach/bounds.ts';
import { Networks } from '../../../src/control/reach/networks.ts';
import { Activity } from '../../../src/control/turns/activity.ts';
import { createOperationQueue } from '../../../src/control/turns/operation-queue.ts';
import { OtherReplicas } from '../../../src/control/turns/other-replicas.ts';
import type { NetworkPolicy } from '../../../src/model/network/policy.ts';
import { networkProfiles } from '../../../src/model/network/profiles.ts';
import {
  noNetwork,
  openNetwork,
  parsedOf,
  parseNetworkText,
  policyOf,
} from '../../../src/model/network/setting.ts';
import type { NetworkSetting, Sandbox } from '../../../src/model/sandbox.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let ownerNetworks: OwnerNetworkStore;
/** Policies that the engine was given, such as `sb_1 none` or `sb_1 https://a.example.com`; a failed one with `!`. */
let given: string[];
/** Number of the next calls of the engine that fail. */
let failing: number;
let capabilities: { networkPolicies: boolean };
let unfinished: Unfinished;
let logged: string[];

beforeEach(async () => {
  const stores = memoryStore();
  await stores.users.insertUser(alice);
  store = stores.sandboxes;
  ownerNetworks = stores.ownerNetworks;
  given = [];
  failing = 0;
  capabilities = { networkPolicies: true };
  logged = [];
  unfinished = new Unfinished((work) => logged.push(`failed: ${work}`));
});

const named = (policy: NetworkPolicy) =>
  policy.mode === 'rules' ? policy.rules.map(({ text }) => text).join(' ') : policy.mode;

function open(installation: Partial<InstallationNetworks> = {}) {
  const replicas = createAlone();
  const runtime = {
    capabilities,
    async setNetwork(id: string, policy: NetworkPolicy) {
      const fails = failing-- > 0;
      given.push(`${id} ${named(policy)}${fails ? ' !' : ''}`);
      if (fails) throw new Error('the kernel says no');
    },
    assign() {},
  };
  const log = { info() {}, warn() {}, error: (message: string) => void logged.push(message) };
  const networks: Networks = new Networks({
    ...{ runtime: runtime as never, secrets: { of: async () => [] }, unfinished, log },
    bounds: new NetworkBounds(ownerNetworks, { usual: openNetwork, most: openNetwork, ...installation }),
    inTurn: (id, work) => machines.change(id, () => null, work),
  });
  const machines: Machines = new Machines({
    ...{ store, log, replicas, networks, runtime, unfinished, nodeLoss: null },
    agent: { hello: async () => {} },
    queue: createOperationQueue(),
    others: new OtherReplicas(replicas, store),
    watches: { begin() {} },
    activity: new Activity(Date, store, false),
    clock: { now: () => 5_000 },
  } as unknown as MachinesDependencies);
  const clock = { now: () => 5_000 };
  const learning = new Learning({ store, machines, networks, unfinished, clock });
  return {
    ...{ networks, machines },
    service: new NetworkService({
      store,
      machines,
      networks,
      learning,
      events: new NetworkLog(clock, () => null),
      traffic: null,
    }),
  };
}

async function have(overrides: Partial<Sandbox> = {}): Promise<Sandbox> {
  const sandbox = sandboxRecord({ id: 'sb_1', name: 'box', ...overrides });
  await store.insert(sandbox);
  return sandbox;
}

const stored = async () => (await store.get('sb_1'))?.network;
const rules = (allow: string[], profiles: string[] = []) => ({ mode: 'rules', profiles, allow }) as const;

describe('a change of a network', () => {
  it('is stored, then put in force, and shown with what is in force', async () => {
    await have();
    const { service } = open();
    const shown = await service.set(alice, 'box', { allow: ['A.example.com'] });
    expect(shown).toMatchObject({ sandboxId: 'sb_1', setting: rules(['a.example.com']) });
    expect(named(shown.inForce)).toBe('https://a.example.com http://a.example.com');
    expect(given).toEqual(['sb_1 https://a.example.com http://a.example.com']);
    expect(await store.get('sb_1')).toMatchObject({ network: rules(['a.example.com']), updatedAt: 5_000 });
    expect(await service.get(alice, 'box')).toEqual(shown);
  });

  it.each(['stopped', 'archived', 'error'] as const)(
    'of a sandbox that is %s is for its next start',
    async (state) => {
      await have({ state, runGeneration: null });
      await open().service.set(alice, 'box', 'none');
      expect([await stored(), given]).toEqual([noNetwork, []]);
    },
  );

  it('adds and removes rules and profiles', async () => {
    await have({ network: noNetwork });
    const { service } = open();
    await service.allow(alice, 'box', ['llm', 'tcp://203.0.113.7:22']);
    expect(await stored()).toEqual(rules(['tcp://203.0.113.7:22'], ['llm']));
    await service.deny(alice, 'box', ['llm']);
    expect(await stored()).toEqual(rules(['tcp://203.0.113.7:22']));
    expect(given.at(-1)).toBe('sb_1 tcp://203.0.113.7:22');
    await service.deny(alice, 'box', ['tcp://203.0.113.7:22']);
    expect([await stored(), given.at(-1)]).toEqual([rules([]), 'sb_1 ']);
  });

  it('that would narrow an open network by allowing something is refused', async () => {
    await have();
    await expect(open().service.allow(alice, 'box', ['example.com'])).rejects.toMatchObject({
      code: 'failed_precondition',
    });
    expect([await stored(), given]).toEqual([openNetwork, []]);
  });

  it('keeps within 100 rules, counted with those that are there', async () => {
    const allow = Array.from({ length: 100 }, (_, at) => `https://a${at}.example.com`);
    await have({ network: rules(allow) as Sandbox['network'] });
    await expect(open().service.allow(alice, 'box', ['https://b.example.com'])).rejects.toMatchObject({
      ...{ code: 'invalid_argument', message: expect.stringContaining('at most 100') },
    });
    expect(await stored()).toEqual(rules(allow));
  });

  it.each([
    ['set', (service: NetworkService) => service.set(alice, 'box', { allow: ['*.co.uk'] }), 'network'],
    ['allow', (service: NetworkService) => service.allow(alice, 'box', ['*.co.uk']), 'rules'],
    ['deny', (service: NetworkService) => service.deny(alice, 'box', ['example.com']), 'rules'],
  ])('is refused before anything happens: %s', async (_, call, parameter) => {
    await have({ network: rules(['https://a.example.com']) as never });
    await expect(call(open().service)).rejects.toMatchObject({
      ...{ code: 'invalid_argument', fields: { parameter } },
    });
    expect([await stored(), given]).toEqual([rules(['https://a.example.com']), []]);
  });

  it('is refused where the engine has no policies, but for open', async () => {
    capabilities = { networkPolicies: false };
    await have();
    const { service } = open();
    const refused = { code: 'failed_precondition' };
    await expect(service.set(alice, 'box', 'none')).rejects.toMatchObject(refused);
    await expect(service.allow(alice, 'box', ['git'])).rejects.toMatchObject(refused);
    expect((await service.set(alice, 'box', 'open')).setting).toEqual(openNetwork);
  });

  it("is of the caller's own sandboxes alone", async () => {
    await have();
    const { service } = open();
    for (const call of [
      () => service.get(bob, 'sb_1'),
      () => service.set(bob, 'sb_1', 'none'),
      () => service.allow(bob, 'sb_1', ['git']),
      () => service.deny(bob, 'sb_1', ['git']),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'not_found' });
    expect([await stored(), given]).toEqual([openNetwork, []]);
  });

  it('waits for its turn, so that the last one of two is in force', async () => {
    await have({ network: noNetwork });
    const { service } = open();
    await Promise.all([
      service.allow(alice, 'box', ['https://a.example.com']),
      service.allow(alice, 'box', ['https://b.example.com']),
    ]);
    expect(await stored()).toEqual(rules(['https://a.example.com', 'https://b.example.com']));
    expect(given).toEqual(['sb_1 https://a.example.com', 'sb_1 https://a.example.com https://b.example.com']);
  });
});

describe('a policy that cannot be put in force', () => {
  const refused = { code: 'unavailable', message: expect.stringContaining('the sandbox has no network') };

  it('closes the network, says so, and is in force once the engine works', async () => {
    await have();
    failing = 1;
    await expect(
      open().service.set(alice, 'box', { allow: ['https://a.example.com'] }),
    ).rejects.toMatchObject(refused);
    expect(await stored()).toEqual(rules(['https://a.example.com']));
    expect(given).toEqual(['sb_1 https://a.example.com !', 'sb_1 none']);
    await unfinished.turn();
    expect(given.slice(2)).toEqual(['sb_1 https://a.example.com']);
    await unfinished.turn();
    expect(given).toHaveLength(3);
  });

  it('is tried again although closing failed too, by the newest setting', async () => {
    await have();
    const { service } = open();
    failing = 2;
    await expect(service.set(alice, 'box', { allow: ['https://a.example.com'] })).rejects.toMatchObject(
      refused,
    );
    expect(given).toEqual(['sb_1 https://a.example.com !', 'sb_1 none !']);
    await service.set(alice, 'box', { allow: ['https://b.example.com'] });
    await unfinished.turn();
    expect(given.slice(2)).toEqual(['sb_1 https://b.example.com', 'sb_1 https://b.example.com']);
  });

  it.each([
    ['is deleted', async ({ id, generation }: Sandbox) => void (await store.remove(id, generation))],
    [
      'stops',
      async ({ id, generation }: Sandbox) => void (await store.update(id, generation, { state: 'stopped' })),
    ],
  ])('is forgotten when the sandbox %s', async (_, end) => {
    const sandbox = await have();
    failing = 1;
    await expect(open().service.set(alice, 'box', { profiles: ['git'] })).rejects.toMatchObject(refused);
    await end(sandbox);
    await unfinished.turn();
    await unfinished.turn();
    expect(given).toHaveLength(2);
    expect(logged.filter((line) => line.startsWith('failed'))).toEqual([]);
  });

  it('holds up no adoption', async () => {
    const sandbox = await have({ network: noNetwork });
    failing = 1;
    await open().machines.adopt(sandbox);
    expect(given).toEqual(['sb_1 none !', 'sb_1 none']);
    await unfinished.turn();
    expect(given).toEqual(['sb_1 none !', 'sb_1 none', 'sb_1 none']);
  });
});

describe('the ceiling', () => {
  const most = parseNetworkText('most', 'git,https://*.example.com');

  it('holds at an adoption after it was lowered, and leaves what is meant', async () => {
    const sandbox = await have({
      network: rules(['https://a.example.com', 'https://a.example.org']) as never,
    });
    const { machines, service } = open({ most });
    await machines.adopt(sandbox);
    expect(given).toEqual(['sb_1 https://a.example.com']);
    expect((await service.get(alice, 'box')).setting.allow).toEqual([
      'https://a.example.com',
      'https://a.example.org',
    ]);
  });

  it('is what an open network has', async () => {
    await open({ most }).machines.adopt(await have());
    expect(given).toEqual([`sb_1 ${[...networkProfiles.git.rules, 'https://*.example.com'].join(' ')}`]);
  });

  it('of none closes every network', async () => {
    await open({ most: noNetwork }).machines.adopt(await have());
    expect(given).toEqual(['sb_1 none']);
  });

  it('refuses a change of which it leaves too many rules', async () => {
    const ports = (from: number) =>
      Array.from({ length: 50 }, (_, at) => `tcp://203.0.113.0/24:${from + at}-${from + at + 20_000}`);
    await have();
    const { service } = open({ most: { mode: 'rules', profiles: [], allow: ports(10_000) } });
    await expect(service.set(alice, 'box', { allow: ports(20_000) })).rejects.toMatchObject({
      ...{ code: 'invalid_argument', message: expect.stringContaining('over 1000 rules') },
    });
    expect([await stored(), given]).toEqual([openNetwork, []]);
  });
});

describe('the usual network', () => {
  it.each([
    [openNetwork, openNetwork, true],
    [noNetwork, openNetwork, true],
    [rules(['example.com']), openNetwork, false],
    [openNetwork, rules(['example.com']), false],
  ])('%j within %j is ready in the warm pool: %s', (usual, most, ready) => {
    const { networks } = open({ usual, most } as unknown as InstallationNetworks);
    expect(networks.usual).toEqual(usual);
    const ceiling = policyOf(parsedOf(most as never));
    const accepted = (setting: NetworkSetting) => ({ setting, inForce: networks.inForce(setting, ceiling) });
    expect(networks.isReadyInPool(accepted(usual as never))).toBe(ready);
    const other = accepted({ mode: 'rules', profiles: ['llm'], allow: [] });
    expect(networks.isReadyInPool(other)).toBe(false);
  });
});
