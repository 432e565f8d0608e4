/** Learning of network rules: what is in force meanwhile, what comes of it, and how it ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import { Learning } from '../../../src/control/network/learning.ts';
import { NetworkLog } from '../../../src/control/network/network-log.ts';
import { NetworkService } from '../../../src/control/network/network-service.ts';
import type { OwnerNetworkStore, SandboxStore } from '../../../src/control/ports/index.ts';
import { NetworkBounds } from '../../../src/control/reach/bounds.ts';
import { Networks } from '../../../src/control/reach/networks.ts';
import { notFound } from '../../../src/model/errors.ts';
import type { LearningPolicy, NetworkPolicy } from '../../../src/model/network/policy.ts';
import { noNetwork, openNetwork, parseNetworkText } from '../../../src/model/network/setting.ts';
import type { NetworkEvent } from '../../../src/model/network/traffic.ts';
import type { User } from '../../../src/model/user.ts';
import { alice, bob, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let ownerNetworks: OwnerNetworkStore;
/** Policies that the engine was given, such as `sb_1 none` or `sb_1 learns of all`. */
let given: string[];
let networkPolicies: boolean;
let unfinished: Unfinished;

beforeEach(async () => {
  vi.useFakeTimers({ now: 0 });
  const stores = memoryStore();
  await stores.users.insertUser(alice);
  store = stores.sandboxes;
  ownerNetworks = stores.ownerNetworks;
  given = [];
  networkPolicies = true;
  unfinished = new Unfinished(() => {});
});

afterEach(() => vi.useRealTimers());

function named(policy: NetworkPolicy | LearningPolicy): string {
  if (!('rules' in policy)) return policy.mode;
  const texts = policy.rules.map(({ text }) => text).join(' ');
  if (policy.mode === 'rules') return texts;
  return policy.open ? 'learns of all' : `learns of ${texts}`;
}

function open(most = openNetwork) {
  const setNetwork = async (id: string, policy: NetworkPolicy | LearningPolicy) =>
    void given.push(`${id} ${named(policy)}`);
  const networks: Networks = new Networks({
    runtime: { capabilities: { networkPolicies } as never, setNetwork },
    bounds: new NetworkBounds(ownerNetworks, { usual: openNetwork, most }),
    ...{ unfinished, log: { info() {}, warn() {}, error() {} } },
    inTurn: async () => {},
    secrets: { of: async () => [] },
  });
  const machines: ConstructorParameters<typeof Learning>[0]['machines'] = {
    async change(id, patch, then) {
      const before = await store.get(id);
      if (!before) throw notFound('sandbox', 'It is gone.');
      const sandbox = (await store.update(id, before.generation, patch(before) ?? {})) ?? before;
      await then?.(sandbox, new AbortController().signal);
      return sandbox;
    },
  };
  const learning = new Learning({ store, machines, networks, unfinished, clock: Date });
  const events = new NetworkLog(Date, () => null);
  return {
    learning,
    networks,
    service: new NetworkService({ store, machines, networks, learning, events, traffic: null }),
  };
}

async function have(id = 'sb_1', owner: User = alice): Promise<void> {
  await store.insert(
    sandboxRecord({ id, name: id, ownerId: owner.id, state: 'started', network: noNetwork }),
  );
}

const used = (kind: NetworkEvent['kind'], name: string | null, port: number | null, more: object = {}) => ({
  ...{ at: Date.now(), sandbox: 'sb_1', kind, name, address: '203.0.113.7', port, rule: null, allowed: true },
  ...{ secret: null, why: null, sent: 0, received: 0, ended: false, ...more },
});

/** Ends it, and lets the time pass in which the last events come. */
async function stop(learning: Learning, caller = alice, sandbox = 'sb_1') {
  const stopped = learning.stop(caller, sandbox);
  await vi.advanceTimersByTimeAsync(1_000);
  return stopped;
}

describe('learning', () => {
  it('opens the network, and its end brings back what is set', async () => {
    await have();
    const { learning, service } = open();
    const started = await learning.start(alice, 'sb_1', 10);
    expect(started).toMatchObject({ sandboxId: 'sb_1', until: 600_000, rules: [] });
    expect(await service.get(alice, 'sb_1')).toMatchObject({ setting: noNetwork, learnsUntil: 600_000 });
    await stop(learning);
    expect(given).toEqual(['sb_1 learns of all', 'sb_1 none']);
    expect(await service.get(alice, 'sb_1')).toMatchObject({ setting: noNetwork, learnsUntil: null });
  });

  it('gives rules for exactly what was used', async () => {
    await have();
    const { learning } = open();
    await learning.start(alice, 'sb_1', 10);
    learning.hear([
      used('dns', 'api.example.com', null),
      used('tls', 'api.example.com', 443),
      used('tls', 'api.example.com', 443, { ended: true, sent: 5 }),
      used('tls', 'api.example.com', 8443),
      used('http', 'example.com', 80),
      used('tcp', 'git.example.com', 22),
      used('tls', null, 443),
      used('udp', null, 123),
      used('icmp', null, null),
      used('tls', 'refused.example.com', 443, { allowed: false }),
      { ...used('tls', 'another.example.com', 443), sandbox: 'sb_2' },
    ]);
    expect((await stop(learning)).rules).toEqual([
      'https://api.example.com',
      'https://api.example.com:8443',
      'http://example.com',
      'tcp://git.example.com:22',
      'https://203.0.113.7',
      'udp://203.0.113.7:123',
      'icmp://203.0.113.7',
    ]);
  });

  it('takes what is reported late, and nothing that was used after its end', async () => {
    await have();
    const { learning } = open();
    await learning.start(alice, 'sb_1', 10);
    const stopped = learning.stop(alice, 'sb_1');
    await vi.advanceTimersByTimeAsync(100);
    learning.hear([used('tls', 'late.example.com', 443, { at: 0 }), used('tls', 'after.example.com', 443)]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await stopped).rules).toEqual(['https://late.example.com']);
  });

  it('counts what was too much to be kept', async () => {
    await have();
    const { learning } = open();
    await learning.start(alice, 'sb_1', 10);
    learning.hear([{ sandbox: 'sb_1', dropped: 3 }]);
    for (let port = 1; port <= 502; port++) learning.hear([used('tls', 'a.example.com', port)]);
    expect(await stop(learning)).toMatchObject({ rules: { length: 500 }, missing: 5 });
  });

  it('ends by itself, and keeps its rules for an hour', async () => {
    await have();
    const { learning } = open();
    await learning.start(alice, 'sb_1', 1);
    learning.hear([used('tls', 'api.example.com', 443)]);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(given).toEqual(['sb_1 learns of all']);
    await vi.advanceTimersByTimeAsync(1);
    expect(given).toEqual(['sb_1 learns of all', 'sb_1 none']);
    expect((await learning.stop(alice, 'sb_1')).rules).toEqual(['https://api.example.com']);
    await vi.advanceTimersByTimeAsync(3_600_000);
    await expect(learning.stop(alice, 'sb_1')).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('goes on with its rules when it is begun again, until the new end', async () => {
    await have();
    const { learning } = open();
    await learning.start(alice, 'sb_1', 1);
    learning.hear([used('tls', 'api.example.com', 443)]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await learning.start(alice, 'sb_1', 60)).toMatchObject({
      ...{ until: 3_630_000, rules: ['https://api.example.com'] },
    });
    await vi.advanceTimersByTimeAsync(3_599_999);
    expect(given).toEqual(['sb_1 learns of all', 'sb_1 learns of all']);
  });

  it('stays within the ceiling', async () => {
    await have();
    await open(parseNetworkText('most', 'https://a.example.com')).learning.start(alice, 'sb_1', 10);
    expect(given).toEqual(['sb_1 learns of https://a.example.com']);
    const refused = open(noNetwork).learning.start(alice, 'sb_1', 10);
    await expect(refused).rejects.toMatchObject({ code: 'failed_precondition' });
    expect(given).toHaveLength(1);
  });

  it('is ended by a change of the network, which counts at once', async () => {
    await have();
    const { learning, service } = open();
    await learning.start(alice, 'sb_1', 10);
    await service.set(alice, 'sb_1', { allow: ['https://b.example.com'] });
    expect(given).toEqual(['sb_1 learns of all', 'sb_1 https://b.example.com']);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(given).toHaveLength(2);
  });

  it('holds for a machine that starts meanwhile', async () => {
    await have();
    const { learning, networks } = open();
    await learning.start(alice, 'sb_1', 10);
    await networks.put({ id: 'sb_1', ownerId: alice.id, network: noNetwork, secretIds: [] });
    expect(given).toEqual(['sb_1 learns of all', 'sb_1 learns of all']);
  });

  it('that cannot end yet ends as soon as it can', async () => {
    await have();
    const { learning } = open();
    await learning.start(alice, 'sb_1', 1);
    const { get } = store;
    store.get = () => Promise.reject(new Error('the store is away'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(given).toEqual(['sb_1 learns of all']);
    store.get = get;
    await unfinished.turn();
    expect(given).toEqual(['sb_1 learns of all', 'sb_1 none']);
  });

  it('of a sandbox that is deleted ends quietly', async () => {
    await have();
    const { learning, networks } = open();
    await learning.start(alice, 'sb_1', 1);
    await store.remove('sb_1', (await store.get('sb_1'))?.generation ?? 0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(networks.learnsUntil('sb_1')).toBeNull();
  });

  it("is of the caller's own sandboxes alone, and needs policies", async () => {
    await have();
    const { learning } = open();
    await expect(learning.start(bob, 'sb_1', 10)).rejects.toMatchObject({ code: 'not_found' });
    networkPolicies = false;
    const refused = { code: 'failed_precondition' };
    await expect(open().learning.start(alice, 'sb_1', 10)).rejects.toMatchObject(refused);
    expect(given).toEqual([]);
  });

  it('is for 20 sandboxes of an owner; one that has ended makes room', async () => {
    for (let number = 0; number <= 21; number++) await have(`sb_${number}`);
    await have('sb_other', bob);
    const { learning } = open();
    for (let number = 0; number < 20; number++) await learning.start(alice, `sb_${number}`, 10);
    const full = { code: 'resource_exhausted' };
    await expect(learning.start(alice, 'sb_20', 10)).rejects.toMatchObject(full);
    await learning.start(bob, 'sb_other', 10);
    await stop(learning, alice, 'sb_3');
    await learning.start(alice, 'sb_20', 10);
    await expect(learning.stop(alice, 'sb_3')).rejects.toMatchObject({ code: 'failed_precondition' });
  });
});
