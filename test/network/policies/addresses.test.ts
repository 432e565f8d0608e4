/** Network policies that the firewall enforces by itself: real namespaces, real nftables. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomText } from '../../../src/model/ids.ts';
import type { NetworkPolicy, NetworkRule } from '../../../src/model/network/policy.ts';
import { parseRule } from '../../../src/model/network/rule-text.ts';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { createTestHost, type Instance, inside, publicAddress, type TestHost } from '../harness.ts';
import { connectTcp, openConnection, ping, type Server, sendUdp, serve } from '../probe.ts';
import { locksOf } from '../traces.ts';
import { fakeEgress } from './fake-egress.ts';
import { none, open, rules } from './rules.ts';

const port = 18_083;
const otherPort = 18_084;
/** Further public addresses of the outside, inside and beside a range that rules name. */
const inRange = '198.51.100.18';
const besideRange = '198.51.100.33';

let host: TestHost;
let instance: Instance;
const servers: Server[] = [];
let last = 0;

beforeAll(async () => {
  host = await createTestHost();
  for (const address of [inRange, besideRange]) {
    await host.outside.run('ip', 'address', 'add', `${address}/32`, 'dev', 'lo');
  }
  servers.push(await serve(host.outside, port), await serve(host.outside, otherPort));
  instance = host.start({ egressPath: fakeEgress(host) });
  await instance.init();
});

afterAll(async () => {
  for (const server of servers) server[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

const nextId = () => `sb_${String(++last).padStart(16, '0')}`;

async function machine(policy: NetworkPolicy | null): Promise<{ id: string; slot: Slot }> {
  const id = nextId();
  return { id, slot: await instance.acquire(id, policy) };
}

/** What a machine gets of each way out to a public address. */
async function reaches(slot: Slot, address = publicAddress) {
  const from = inside(slot);
  const [tcp, udp, echoed] = await Promise.all([
    connectTcp(from, address, port),
    sendUdp(from, address, port),
    ping(from, address),
  ]);
  return { tcp: tcp === 'hello', udp: udp === 'hello', ping: echoed };
}

/** Returns true when a datagram gets there; servers answer under their first address, which is no reply to others. */
async function arrives(slot: Slot, address: string, at: number): Promise<boolean> {
  const text = randomText(8);
  await sendUdp(inside(slot), address, at, '', text);
  return servers.some(({ received }) => received.has(text));
}

/** Asks the gateway for a name; the forwarder answers AAAA by itself. */
async function dns(slot: Slot): Promise<string> {
  const code = `const dns = new (require('dns').promises.Resolver)({ timeout: 700, tries: 1 });
    dns.setServers(['${slot.gateway}']);
    dns.resolve6('a.test').catch((error) => console.log(error.code));`;
  return (await inside(slot).node(code)).trim();
}

describe('open', () => {
  it('reaches public addresses by TCP, UDP and echo, and the forwarder', async () => {
    const { slot } = await machine(open);
    expect(await reaches(slot)).toEqual({ tcp: true, udp: true, ping: true });
    expect(await dns(slot)).toBe('ENODATA');
  });
});

describe.each([
  ['none', none],
  ['no policy', null],
])('%s', (_, policy) => {
  it('reaches nothing: not by TCP, UDP or echo, and no DNS', async () => {
    const { slot } = await machine(policy);
    expect(await reaches(slot)).toEqual({ tcp: false, udp: false, ping: false });
    expect(await dns(slot)).not.toBe('ENODATA');
    expect(await connectTcp(inside(slot), slot.gateway, 53)).not.toBe('hello');
  });
});

it('none and no policy are refused at once', async () => {
  const machines = await Promise.all([machine(none), machine(null)]);
  await sleep(1_500); // The kernel bounds how often it says so.
  for (const { slot } of machines) {
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('EHOSTUNREACH');
  }
});

describe('a rule for addresses', () => {
  it('lets its range through, and no other address', async () => {
    const { slot } = await machine(rules(`udp://198.51.100.16/28:${port}`));
    const all = [inRange, besideRange, publicAddress].map((address) => arrives(slot, address, port));
    expect(await Promise.all(all)).toEqual([true, false, false]);
  });

  it('lets its ports through, and no other', async () => {
    const { slot } = await machine(rules(`tcp://${publicAddress}:18000-${port}`));
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
    expect(await connectTcp(inside(slot), publicAddress, otherPort)).not.toBe('hello');
  });

  it('without a port lets all of TCP through, and nothing else', async () => {
    const { slot } = await machine(rules(`tcp://${publicAddress}`));
    expect(await connectTcp(inside(slot), publicAddress, otherPort)).toBe('hello');
    expect(await reaches(slot)).toEqual({ tcp: true, udp: false, ping: false });
  });

  it('for echo lets echo through alone', async () => {
    const { slot } = await machine(rules(`icmp://${publicAddress}`));
    const [named, another] = await Promise.all([reaches(slot), reaches(slot, inRange)]);
    expect(named).toEqual({ tcp: false, udp: false, ping: true });
    expect(another).toEqual({ tcp: false, udp: false, ping: false });
  });

  it('is one machine’s alone', async () => {
    await machine(rules(`udp://${publicAddress}:${port}`));
    const { slot } = await machine(rules(`udp://${inRange}:${port}`));
    const both = [publicAddress, inRange].map((address) => arrives(slot, address, port));
    expect(await Promise.all(both)).toEqual([false, true]);
  });

  it('may overlap another', async () => {
    const { slot } = await machine(
      rules('udp://198.51.100.0/24:18000-18083', `udp://${inRange}:18083-18090`, `udp://${inRange}:18083`),
    );
    const all = [
      arrives(slot, inRange, otherPort),
      arrives(slot, besideRange, otherPort),
      arrives(slot, besideRange, port),
    ];
    expect(await Promise.all(all)).toEqual([true, false, true]);
  });

  it('is worth nothing for a private address', async () => {
    const [rule] = parseRule('rules', `udp://${publicAddress}:${port}`).rules;
    const forged = { ...rule, address: '10.77.0.0/24' } as NetworkRule;
    const { slot } = await machine({ mode: 'rules', rules: [forged] });
    expect(await arrives(slot, '10.77.0.1', port)).toBe(false);
  });
});

describe('a change', () => {
  it('from open to none or rules, or from one rule to another, ends an established connection at once', async () => {
    const changes = [
      [open, none],
      [open, rules(`udp://${publicAddress}:${port}`)],
      [rules(`tcp://${publicAddress}:${port}`), rules(`tcp://${inRange}`)],
    ] as const;
    await Promise.all(
      changes.map(async ([before, after]) => {
        const { id, slot } = await machine(before);
        using connection = await openConnection(inside(slot), publicAddress, port);
        const started = connection.count();
        await expect.poll(() => connection.count()).toBeGreaterThan(started + 3);
        await instance.setNetwork(id, after);
        await sleep(100); // What was on its way.
        const ended = connection.count();
        await sleep(500);
        expect(connection.count()).toBe(ended);
      }),
    );
  });

  it('ends a stream that only comes in', async () => {
    const { id, slot } = await machine(rules(`udp://${publicAddress}:19000`));
    using stream = await streamTo(slot);
    await expect.poll(() => stream.count()).toBeGreaterThan(5);
    await instance.setNetwork(id, none);
    await sleep(100);
    const ended = stream.count();
    await sleep(500);
    expect(stream.count()).toBe(ended);
  });

  it('that allows as much leaves connections alone', async () => {
    const { id, slot } = await machine(rules(`tcp://${publicAddress}:${port}`));
    using connection = await openConnection(inside(slot), publicAddress, port);
    await instance.setNetwork(id, rules(`tcp://${publicAddress}`, `udp://${inRange}:1`));
    const before = connection.count();
    await expect.poll(() => connection.count()).toBeGreaterThan(before + 3);
    await instance.setNetwork(id, open);
    const later = connection.count();
    await expect.poll(() => connection.count()).toBeGreaterThan(later + 3);
  });

  it('of one machine is nothing to another’s connections', async () => {
    const { id } = await machine(open);
    const { slot } = await machine(rules(`tcp://${publicAddress}:${port}`));
    using connection = await openConnection(inside(slot), publicAddress, port);
    for (const policy of [none, rules(`udp://${inRange}:1`), open]) await instance.setNetwork(id, policy);
    const before = connection.count();
    await expect.poll(() => connection.count()).toBeGreaterThan(before + 3);
  });

  it('by many callers at once ends with the last', async () => {
    const { id, slot } = await machine(open);
    await Promise.all(
      [none, open, rules(`icmp://${inRange}`), none, open].map((p) => instance.setNetwork(id, p)),
    );
    expect(await reaches(slot)).toEqual({ tcp: true, udp: true, ping: true });
  });
});

describe('a slot', () => {
  it('that is released has nothing of its policy for the next holder', async () => {
    const alone = host.start({ poolSize: 0, egressPath: fakeEgress(host) });
    await alone.init();
    const first = await alone.acquire(nextId(), rules(`udp://${publicAddress}:${port}`));
    expect(await sendUdp(inside(first), publicAddress, port)).toBe('hello');
    await alone.release((await alone.held())[0] ?? '');
    await expect.poll(() => locksOf(alone.id)).not.toContain(first.index);
    const table = await host.run('nft', 'list', 'table', 'inet', `sandhaven_${alone.id}`);
    expect(policyParts(table)).not.toContain(first.address);
    expect(table).not.toContain(`grant_${first.index}`);
    let next = await alone.acquire(nextId(), null);
    for (let tries = 0; next.index !== first.index && tries < 50; tries++) {
      next = await alone.acquire(nextId(), null);
    }
    expect(next.index).toBe(first.index);
    expect(await sendUdp(inside(next), publicAddress, port)).not.toBe('hello');
    await alone.purge();
  });

  it('in the pool reaches nothing', async () => {
    const { slot } = await machine(open);
    const rows = JSON.parse(
      await host.run('nft', '-j', 'list', 'set', 'inet', `sandhaven_${instance.id}`, 'open_to'),
    ).nftables;
    const addresses = rows.flatMap((row: { set?: { elem: string[] } }) => row.set?.elem ?? []);
    expect(addresses).toContain(slot.address);
    expect(addresses.length).toBeLessThanOrEqual((await instance.held()).length);
  });
});

/** Returns the sets and the map of policies; others remember addresses for a minute. */
function policyParts(table: string): string {
  return (table.match(/^\t(?:set (?:open_to|ruled)|map granted) \{.*?^\t\}/gms) ?? []).join('');
}

/** Counts datagrams that the outside sends to a machine without end, after one from there. */
async function streamTo(slot: Slot) {
  const sender = spawn('nsenter', [`--net=${host.outside.path}`, process.execPath, '-e', senderCode]);
  await once(sender.stdout, 'data');
  const receiver = spawn('nsenter', [
    `--net=${inside(slot).path}`,
    process.execPath,
    '-e',
    receiverCode,
    '--',
    publicAddress,
  ]);
  let count = 0;
  receiver.stdout.on('data', (chunk: Buffer) => {
    count += chunk.length;
  });
  return {
    count: () => count,
    [Symbol.dispose]() {
      sender.kill('SIGKILL');
      receiver.kill('SIGKILL');
    },
  };
}

const senderCode = `
const socket = require('dgram').createSocket('udp4');
socket.once('message', (_, { port, address }) => setInterval(() => socket.send('.', port, address), 20));
socket.bind(19000, '0.0.0.0', () => console.log('listening'));
`;

const receiverCode = `
const socket = require('dgram').createSocket('udp4');
socket.on('message', (text) => process.stdout.write(text));
socket.send('go', 19000, process.argv[1]);
`;
