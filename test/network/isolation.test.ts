import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomText } from '../../src/model/ids.ts';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';
import {
  createTestHost,
  forbiddenAddresses,
  hostAddress,
  type Instance,
  inside,
  type Namespace,
  publicAddress,
  type TestHost,
} from './harness.ts';
import { addressSeen, connectMany, connectTcp, type Server, sendUdp, serve } from './probe.ts';

/** Another than any service uses. */
const port = 18_080;

let host: TestHost;
let instance: Instance;
let neighbour: Instance;
let slot: Slot;
let sibling: Slot;
let cousin: Slot;
let machine: Namespace;
const servers = new Map<Namespace, Server>();

beforeAll(async () => {
  host = await createTestHost();
  instance = host.start();
  neighbour = host.start();
  await Promise.all([instance.init(), neighbour.init()]);
  slot = await instance.acquire('sb_0000000000000001');
  sibling = await instance.acquire('sb_0000000000000002');
  cousin = await neighbour.acquire('sb_0000000000000003');
  machine = inside(slot);
  for (const namespace of [host, host.outside, inside(sibling), inside(cousin), machine]) {
    servers.set(namespace, await serve(namespace, port));
  }
});

afterAll(async () => {
  for (const server of servers.values()) server[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

async function reach(from: Namespace, address: string, source = ''): Promise<string[]> {
  return Promise.all([connectTcp(from, address, port, source), sendUdp(from, address, port, source)]);
}

const reached = ['hello', 'hello'];

function serverOf(namespace: Namespace): Server {
  const server = servers.get(namespace);
  if (!server) throw new Error('nothing listens there');
  return server;
}

/** Whether what the machine sends under an address gets out; the empty one is its own. */
async function arrivesUnder(source: string): Promise<boolean> {
  const text = randomText(8);
  if (source) await machine.run('ip', 'address', 'add', `${source}/32`, 'dev', 'lo');
  try {
    await sendUdp(machine, publicAddress, port, source, text);
  } finally {
    if (source) await machine.run('ip', 'address', 'del', `${source}/32`, 'dev', 'lo');
  }
  return serverOf(host.outside).received.has(text);
}

/** The machine’s packets to 127.0.0.2 leave by its link, and the host takes them for its own. */
async function routeLoopbackOut(): Promise<void> {
  await machine.run('ip', 'address', 'del', '127.0.0.1/8', 'dev', 'lo');
  await machine.run('ip', 'route', 'add', '127.0.0.2/32', 'via', slot.gateway);
  await machine.run('sysctl', '-qw', 'net.ipv4.conf.eth0.route_localnet=1');
  await host.run('sysctl', '-qw', `net.ipv4.conf.${slot.hostInterface}.route_localnet=1`);
}

async function switchIPv6On(): Promise<void> {
  for (const [namespace, link, address] of [
    [machine, 'eth0', 'fd77::2/64'],
    [host, slot.hostInterface, 'fd77::1/64'],
  ] as const) {
    await namespace.run('sysctl', '-qw', `net.ipv6.conf.${link}.disable_ipv6=0`);
    await namespace.run('ip', 'address', 'add', address, 'dev', link, 'nodad');
  }
}

describe('a machine', () => {
  it('reaches a public address, under the host’s own', async () => {
    expect(await reach(machine, publicAddress)).toEqual(reached);
    expect(await addressSeen(machine, publicAddress, port)).toBe(hostAddress);
  });

  it('has loopback, one link and no IPv6', async () => {
    expect(await reach(machine, '127.0.0.1')).toEqual(reached);
    expect(await machine.run('ip', '-6', 'address')).toBe('');
    // Nor has the host on the link: no address, and no route of it.
    expect(await host.run('ip', '-6', 'address', 'show', 'dev', slot.hostInterface)).toBe('');
    expect(await host.run('ip', '-6', 'route', 'show', 'table', 'all', 'dev', slot.hostInterface)).toBe('');
    const names = JSON.parse(await machine.run('ip', '-json', 'link')).map(
      (link: { ifname: string }) => link.ifname,
    );
    expect(names).toEqual(['lo', 'eth0']);
  });

  it.each(forbiddenAddresses)('does not reach %s, which the host does', async (address) => {
    expect(await reach(host, address)).toEqual(reached);
    expect(await reach(machine, address)).not.toContain('hello');
  });

  it('gets an error at once for an address out of bounds', async () => {
    await sleep(2_000); // The kernel bounds how often it says so.
    expect(await connectTcp(machine, '169.254.169.254', port)).toBe('EHOSTUNREACH');
  });

  it.each([
    ['the host’s address on its uplink', () => hostAddress],
    ['its gateway but for DNS', () => slot.gateway],
    ['another instance’s gateway', () => cousin.gateway],
    ['a sibling', () => sibling.address],
    ['a machine of another instance', () => cousin.address],
  ])('does not reach %s', async (_, address) => {
    expect(await reach(machine, address())).not.toContain('hello');
  });

  it('does not reach the host’s loopback, even where the host would let it', async () => {
    await routeLoopbackOut();
    expect(await reach(machine, '127.0.0.2', slot.address)).not.toContain('hello');
  });

  it('does not reach multicast or broadcast', async () => {
    // Not a port that the machine itself listens on: it hears what it sends to a group.
    using _ = await serve(host, port + 1);
    expect(await sendUdp(machine, '224.0.0.1', port + 1)).not.toBe('hello');
    expect(await sendUdp(machine, '255.255.255.255', port + 1)).not.toBe('hello');
  });

  it.each([
    ['a sibling’s', () => sibling.address],
    ['an unused', () => '10.213.60.1'],
    ['a public', () => '198.51.100.77'],
    ['the gateway’s', () => slot.gateway],
  ])('cannot send under %s address', async (_, source) => {
    expect(await arrivesUnder(source())).toBe(false);
    expect(await arrivesUnder('')).toBe(true);
  });

  it('is reached by neither the host, nor a sibling, nor the outside', async () => {
    await host.outside.run('ip', 'route', 'add', slot.address, 'via', hostAddress);
    const attempts = [host, inside(sibling), inside(cousin), host.outside].map(async (from) => {
      const text = randomText(8);
      expect(await connectTcp(from, slot.address, port)).not.toBe('hello');
      expect(await sendUdp(from, slot.address, port, '', text)).not.toBe('hello');
      expect(serverOf(machine).received).not.toContain(text);
    });
    await Promise.all(attempts);
  });

  it('cannot speak IPv6, even when root inside the host switches it on', async () => {
    await switchIPv6On();
    expect(await connectTcp(machine, 'fd77::1', port)).not.toBe('hello');
  });

  it('holds a bounded number of connections, and another machine’s are its own', async () => {
    expect(await connectMany(inside(sibling), publicAddress, port, 400)).toBe(400);
    const greeted = await connectMany(machine, publicAddress, port, 700);
    expect(greeted).toBeGreaterThan(300);
    expect(greeted).toBeLessThanOrEqual(512);
    expect(await reach(inside(cousin), publicAddress)).toEqual(reached);
  });
});

describe('without the table', () => {
  it('all of this would be reached: the checks above can fail', async () => {
    await instance.kill();
    await host.run('nft', 'delete', 'table', 'inet', `sandhaven_${instance.id}`);
    for (const address of [hostAddress, slot.gateway, sibling.address]) {
      expect([address, ...(await reach(machine, address))]).toEqual([address, ...reached]);
    }
    for (const address of forbiddenAddresses) {
      expect([address, await connectTcp(machine, address, port)]).toEqual([address, 'hello']);
    }
    using _ = await serve(host, port + 1);
    expect(await sendUdp(machine, '255.255.255.255', port + 1)).toBe('hello');
    expect(await sendUdp(machine, '127.0.0.2', port, slot.address)).toBe('hello');
    expect(await connectTcp(machine, 'fd77::1', port)).toBe('hello');
    expect(await reach(host, slot.address)).toEqual(reached);
    expect(await arrivesUnder('10.213.60.1')).toBe(true);
  });

  it('the next start of the service closes them again and keeps the machine connected', async () => {
    instance = host.start({ instanceId: instance.id });
    await instance.init();
    expect(await instance.get('sb_0000000000000001')).toEqual(slot);
    expect(await reach(machine, hostAddress)).not.toContain('hello');
    expect(await reach(machine, publicAddress)).toEqual(reached);
  });
});
