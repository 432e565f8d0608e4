/** Packets of machines with rules that the firewall refuses, and those that it lets through while a machine learns. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LearningPolicy, NetworkPolicy } from '../../../src/model/network/policy.ts';
import { notesIn } from '../../../src/runtime/oci/network/policy/packets.ts';
import { createTestHost, type Instance, inside, publicAddress, type TestHost } from '../harness.ts';
import { connectTcp, ping, type Server, sendUdp, serve } from '../probe.ts';
import { fakeEgress } from './fake-egress.ts';
import { none, open, rules } from './rules.ts';

const port = 18_093;

let host: TestHost;
let instance: Instance;
let server: Server;
let last = 0;

beforeAll(async () => {
  host = await createTestHost();
  server = await serve(host.outside, port);
  instance = host.start({ egressPath: fakeEgress(host) });
  await instance.init();
});

afterAll(async () => {
  server[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

async function machine(policy: NetworkPolicy | LearningPolicy) {
  const id = `sb_${String(++last).padStart(16, '0')}`;
  const slot = await instance.acquire(id, policy);
  return { id, from: inside(slot), slot };
}

/** Events of packets of one sandbox, whose time is not of interest. */
const eventsOf = (id: string) =>
  instance.events
    .filter(({ sandbox, address }) => sandbox === id && address !== null)
    .map(({ kind, address, port, allowed, why }) => ({ kind, address, port, allowed, why }));

const refused = (kind: string, address: string, port: number | null, why: string) => ({
  ...{ kind, address, port, allowed: false, why },
});
const patiently = { timeout: 8_000 };

describe('a refused packet', () => {
  it('of UDP, of an echo request and to a private address is reported, once', async () => {
    const { id, from } = await machine(rules(`udp://${publicAddress}:${port}`));
    await Promise.all([
      ...Array.from({ length: 5 }, () => sendUdp(from, publicAddress, 443)),
      ping(from, publicAddress),
      connectTcp(from, '10.77.0.1', 22),
      sendUdp(from, '255.255.255.255', 67),
    ]);
    await expect.poll(() => eventsOf(id).length, patiently).toBeGreaterThanOrEqual(4);
    await sleep(2_500);
    expect(eventsOf(id)).toHaveLength(4);
    expect(eventsOf(id)).toEqual(
      expect.arrayContaining([
        refused('udp', publicAddress, 443, 'no rule allows it'),
        refused('icmp', publicAddress, null, 'no rule allows it'),
        refused('tcp', '10.77.0.1', 22, 'the address is not public'),
        refused('udp', '255.255.255.255', 67, 'the address is not public'),
      ]),
    );
  });

  it('is noted for machines with rules alone, and what is allowed is not', async () => {
    const machines = await Promise.all([none, open, rules(`udp://${publicAddress}:${port}`)].map(machine));
    const allowed = machines[2] as (typeof machines)[number];
    for (const { from } of machines) await sendUdp(from, publicAddress, port);
    expect(await sendUdp(allowed.from, publicAddress, port)).toBe('hello');
    const { id, from } = await machine(rules());
    await sendUdp(from, publicAddress, port);
    await expect.poll(() => eventsOf(id), patiently).toHaveLength(1);
    for (const { id } of machines) expect(eventsOf(id)).toEqual([]);
  });

  it('in a flood takes no room from others', async () => {
    const [loud, quiet] = [await machine(rules()), await machine(rules())];
    const flood = `const socket = require('dgram').createSocket('udp4').on('error', () => {});
      for (let i = 1; i <= 20000; i++) socket.send('x', i, '${publicAddress}', () => {});
      setTimeout(() => process.exit(), 1500);`;
    await loud.from.node(flood);
    await sendUdp(quiet.from, publicAddress, 443);
    await expect.poll(() => eventsOf(quiet.id), patiently).toHaveLength(1);
    expect(eventsOf(loud.id).length).toBeGreaterThan(10);
    expect(eventsOf(loud.id).length).toBeLessThan(120);
  });
});

describe('a machine that learns', () => {
  const until = () => Date.now() + 60_000;

  it('reaches all that is public, and its packets are reported when it ends', async () => {
    const { id, from } = await machine({ mode: 'learn', open: true, rules: [], until: until() });
    expect(await sendUdp(from, publicAddress, port)).toBe('hello');
    expect(await ping(from, publicAddress)).toBe(true);
    expect(await sendUdp(from, '10.77.0.1', port)).not.toBe('hello');
    expect(await sendUdp(from, publicAddress, 443)).not.toBe('hello');
    // TCP goes to the egress program, which sees names.
    expect(await connectTcp(from, publicAddress, port)).not.toBe('hello');
    await instance.setNetwork(id, rules());
    const used = (kind: string, at: number | null) => ({
      ...{ kind, address: publicAddress, port: at, allowed: true, why: null },
    });
    expect(eventsOf(id)).toEqual(expect.arrayContaining([used('udp', port), used('icmp', null)]));
    expect(eventsOf(id).filter(({ allowed }) => allowed)).toHaveLength(2);
    expect(await sendUdp(from, publicAddress, port)).not.toBe('hello');
  });

  it('reaches within a ceiling what its rules allow', async () => {
    const { rules: most } = rules(`udp://${publicAddress}:${port}`) as NetworkPolicy & { mode: 'rules' };
    const { id, from } = await machine({ mode: 'learn', open: false, rules: most, until: until() });
    expect(await sendUdp(from, publicAddress, port)).toBe('hello');
    expect(await ping(from, publicAddress)).toBe(false);
    await instance.setNetwork(id, none);
    expect(eventsOf(id)).toContainEqual({
      ...{ kind: 'udp', address: publicAddress, port, allowed: true, why: null },
    });
  });

  it('ends at its time, also without a service', async () => {
    const { from } = await machine({ mode: 'learn', open: true, rules: [], until: Date.now() + 1_000 });
    expect(await sendUdp(from, publicAddress, port)).toBe('hello');
    await instance.kill();
    await sleep(2_000);
    expect(await sendUdp(from, publicAddress, port)).not.toBe('hello');
    instance = host.start({ egressPath: fakeEgress(host), instanceId: instance.id });
    await instance.init();
    expect(await sendUdp(from, publicAddress, port)).not.toBe('hello');
  });
});

it('a note of the kernel is read with its time, and one of another form is not', () => {
  const element = (hex: string, expiresMs: number | null) => ({
    ...{ key: Buffer.from(hex, 'hex'), expiresMs, counter: null },
  });
  const elements = [
    element('0ad50005cb0071071100000001bb0000', 7_000),
    element('0ad50005cb007107', 9_990),
    element('0ad50005cb0071078400000000010000', 9_000),
    element('0ad50005cb007107', null),
    element('0ad50005', 9_000),
  ];
  expect(notesIn(elements, 100_000)).toEqual([
    { source: '10.213.0.5', destination: '203.0.113.7', kind: 'udp', port: 443, at: 96_990 },
    { source: '10.213.0.5', destination: '203.0.113.7', kind: 'icmp', port: null, at: 99_980 },
  ]);
});
