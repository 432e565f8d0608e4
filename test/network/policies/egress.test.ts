/** The way through the egress program and the supervisor of that program, with a double of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { inPart } from '../../deep/parts.ts';
import {
  createTestHost,
  forbiddenAddresses,
  hostAddress,
  type Instance,
  inside,
  type Namespace,
  publicAddress,
  runDirOf,
  type TestHost,
} from '../harness.ts';
import { connectTcp, openConnection, sendUdp, serve } from '../probe.ts';
import { askGate, fakeEgress, hangFile } from './fake-egress.ts';
import { open, rules } from './rules.ts';

const port = 18_085;
/** The kernel bounds how often it refuses: each takes its time. */
const privateAddresses = inPart('network') ? forbiddenAddresses : forbiddenAddresses.slice(0, 2);
let host: TestHost;
/** Of the tests that do not end it. */
let instance: Instance;
let egressPath: string;
let last = 0;

beforeAll(async () => {
  host = await createTestHost();
  ({ instance, egressPath } = await started());
});

afterAll(() => host?.[Symbol.asyncDispose]());

const named = rules('https://api.example.com');
const nextId = () => `sb_${String(++last).padStart(16, '0')}`;

async function started(options: object = {}): Promise<{ instance: Instance; egressPath: string }> {
  const egressPath = fakeEgress(host);
  const instance = host.start({ poolSize: 1, egressPath, ...options });
  writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, 'nameserver 9.9.9.9\n');
  await instance.init();
  return { instance, egressPath };
}

const gate = (slot: Slot) => askGate(slot, port);

const isRunning = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid));
const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8');

describe('the egress program', () => {
  it('is started by the first policy with rules, and not before', async () => {
    const slot = await instance.acquire(nextId(), open);
    await instance.acquire(nextId(), { mode: 'none' });
    expect(await host.run('nft', 'list', 'ruleset')).not.toContain('dnat ip to');
    await instance.setNetwork((await instance.held())[0] ?? '', named);
    expect(await gate(slot)).toMatchObject({ resolvers: ['9.9.9.9'] });
  });

  it('gets the rules of a machine, its owner and its sandbox, and all of its TCP', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, rules('https://api.example.com', 'tcp://git.example.com:22'));
    expect((await gate(slot))?.policy).toEqual({
      sandbox: id,
      owner: id,
      rules: ['https://api.example.com', 'tcp://git.example.com:22'],
    });
    await instance.setNetwork(id, rules('http://example.org/files'));
    expect((await gate(slot))?.policy?.rules).toEqual(['http://example.org/files']);
    expect(instance.events).toContainEqual(
      expect.objectContaining({ sandbox: id, kind: 'tcp', allowed: true }),
    );
  });

  it('answers queries to the gateway, by UDP and TCP, from port 53', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, named);
    expect(JSON.parse(await askUdp(inside(slot), slot.gateway)).policy.sandbox).toBe(id);
    const byTcp = await connectTcp(inside(slot), slot.gateway, 53);
    expect(JSON.parse(byTcp).policy.sandbox).toBe(id);
  });

  it('sees nothing of what the firewall decides: private places, UDP, granted addresses', async () => {
    using _ = await serve(host.outside, port);
    const id = nextId();
    const slot = await instance.acquire(
      id,
      rules('https://api.example.com', `tcp://${publicAddress}:${port}`),
    );
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
    for (const address of [...privateAddresses, hostAddress, slot.gateway]) {
      expect([address, await connectTcp(inside(slot), address, port)]).toEqual([address, 'EHOSTUNREACH']);
      await sleep(400); // The kernel bounds how often it says so.
    }
    expect(await sendUdp(inside(slot), publicAddress, 443)).not.toBe('hello');
    // The program itself reports no address here, and "?" for a machine that it does not know.
    const seen = instance.events.filter(
      ({ sandbox, address }) => address === null && [id, '?'].includes(sandbox),
    );
    expect(seen).toEqual([]);
  });

  it('has a user of its own, no other machine’s and no other instance’s', async () => {
    const { instance: other } = await started();
    const slots = await Promise.all([instance, other].map((one) => one.acquire(nextId(), named)));
    const uids = await Promise.all(slots.map(async (slot) => (await gate(slot))?.uid ?? 0));
    expect(new Set(uids).size).toBe(2);
    for (const uid of uids) {
      expect(uid).toBeGreaterThanOrEqual(200_000);
      for (const { uidBase } of slots) expect(Math.abs(uid - uidBase)).toBeGreaterThanOrEqual(65_536);
    }
  });

  it('that ends is started again with all policies, before any machine reaches it', async () => {
    const ids = [nextId(), nextId(), nextId()];
    const slots = await Promise.all(
      ids.map((id) => instance.acquire(id, rules(`https://${id.slice(-1)}.example.com`))),
    );
    const pid = (await gate(slots[0] as Slot))?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    await expect.poll(async () => (await gate(slots[0] as Slot))?.pid ?? pid).not.toBe(pid);
    for (const [i, slot] of slots.entries()) expect((await gate(slot))?.policy?.sandbox).toBe(ids[i]);
  });

  it('that does not answer is replaced, and the change is in force afterwards', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, named);
    const before = await gate(slot);
    writeFileSync(hangFile(egressPath), '');
    const changing = instance.setNetwork(id, rules('https://other.example.com'));
    await expect.poll(() => before && isRunning(before.pid), { timeout: 20_000 }).toBe(false);
    rmSync(hangFile(egressPath));
    await changing;
    const after = await gate(slot);
    expect(after?.pid).not.toBe(before?.pid);
    expect(after?.policy?.rules).toEqual(['https://other.example.com']);
  });

  it('that refuses a policy leaves that machine with nothing, and goes on for the others', async () => {
    const [id, other] = [nextId(), nextId()];
    const slots = [await instance.acquire(id, open), await instance.acquire(other, named)] as const;
    const before = await gate(slots[1]);
    await expect(instance.setNetwork(id, rules('https://refused.example.com'))).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await gate(slots[0])).toBeNull();
    expect(await gate(slots[1])).toEqual(before);
    await instance.setNetwork(id, named);
    expect((await gate(slots[0]))?.policy?.sandbox).toBe(id);
  });

  it('that cannot run leaves a machine with rules with nothing, and says so', async () => {
    const { instance } = await started({ egressPath: '/nonexistent' });
    const id = nextId();
    using _ = await serve(host.outside, port);
    const slot = await instance.acquire(id, open);
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
    await expect(instance.setNetwork(id, rules(`tcp://${publicAddress}`))).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await connectTcp(inside(slot), publicAddress, port)).not.toBe('hello');
    await instance.setNetwork(id, open);
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
  });

  it('ends with the service, however that ends, and nothing of the host takes its place', async () => {
    const { instance } = await started();
    const slot = await instance.acquire(nextId(), named);
    const table = await host.run('nft', 'list', 'table', 'inet', `sandhaven_${instance.id}`);
    const gatePort = Number(/meta l4proto tcp dnat ip to [\d.]+:(\d+)/.exec(table)?.[1]);
    const pid = (await gate(slot))?.pid ?? 0;
    await instance.kill();
    await expect.poll(() => isRunning(pid)).toBe(false);
    // The port is free for a program that listens on all addresses; it gets no machine's connections.
    using _ = await serve(host, gatePort);
    expect(await connectTcp(host, hostAddress, gatePort)).toBe('hello');
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('ECONNREFUSED');
    await host.start({ instanceId: instance.id }).purge();
  });

  it('gets new resolvers when the host has them', async () => {
    const slot = await instance.acquire(nextId(), named);
    writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, 'nameserver 1.1.1.1\nnameserver 8.8.8.8\n');
    await expect
      .poll(async () => (await gate(slot))?.resolvers, { interval: 500 })
      .toEqual(['1.1.1.1', '8.8.8.8']);
  });

  it('cuts off what goes through it when its machine may do more, and when it may do nothing', async () => {
    for (const after of [open, { mode: 'none' } as const]) {
      const id = nextId();
      const slot = await instance.acquire(id, named);
      using connection = await openConnection(inside(slot), publicAddress, port);
      await instance.setNetwork(id, after);
      await sleep(100);
      const ended = connection.count();
      await sleep(300);
      expect(connection.count()).toBe(ended);
      await instance.release(id);
    }
  });
});

describe('the user of the egress program', () => {
  it('opens connections to public addresses and to the host’s resolvers alone', async () => {
    using _ = await serve(host.outside, port);
    using local = await serve(host, 18_086);
    using resolver = await serve(host.outside, 53);
    writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, 'nameserver 10.77.0.1\n');
    const slot = await instance.acquire(nextId(), named);
    await expect.poll(async () => (await gate(slot))?.resolvers, { interval: 500 }).toEqual(['10.77.0.1']);
    const uid = (await gate(slot))?.uid ?? 0;
    const asProgram = (address: string, at: number) => connectAs(uid, address, at);
    expect(await asProgram(publicAddress, port)).toBe('hello');
    expect(await asProgram('10.77.0.1', 53)).toBe('hello');
    for (const address of privateAddresses) {
      expect([address, await asProgram(address, port)]).toEqual([address, 'EHOSTUNREACH']);
      await sleep(400);
    }
    for (const address of [hostAddress, '127.0.0.1', slot.gateway, slot.address]) {
      expect([address, await asProgram(address, 18_086)]).not.toContain('hello');
    }
    // Without the wall they are reached.
    expect(await connectTcp(host, '10.77.0.1', port)).toBe('hello');
    expect(await connectTcp(host, hostAddress, 18_086)).toBe('hello');
    expect([local, resolver].length).toBe(2);
  });
});

/** Connects from the host as this user. */
async function connectAs(uid: number, address: string, at: number): Promise<string> {
  const code = `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid});
    const socket = require('net').connect({ host: process.argv[1], port: ${at} });
    const end = (text) => { console.log(text); process.exit(); };
    socket.on('data', (data) => end(data.toString().split(' ')[0])).on('error', (error) => end(error.code));
    setTimeout(end, 600, 'timeout');`;
  return (await host.node(code, address)).trim();
}

/** Sends a datagram to port 53 and returns the answer that comes from there. */
async function askUdp(from: Namespace, address: string): Promise<string> {
  const child = spawn('nsenter', [`--net=${from.path}`, process.execPath, '-e', askCode, '--', address]);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return line;
}

const askCode = `
const socket = require('dgram').createSocket('udp4');
// A connected socket takes answers from that address and port alone.
socket.connect(53, process.argv[1], () => socket.send('?'));
socket.on('message', (text) => { console.log(text.toString()); process.exit(); });
setTimeout(() => { console.log('null'); process.exit(); }, 1000);
`;
