/** Packets that go around a sandbox's rules, through the real firewall and past the real egress program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { type Driven, drive } from '../../egress/support/drive.ts';
import {
  batch,
  createTestHost,
  hostAddress,
  type Instance,
  inside,
  type Namespace,
  publicAddress,
  runDirOf,
  type TestHost,
} from '../harness.ts';
import { open, rules } from '../policies/rules.ts';
import { sendUdp, serve } from '../probe.ts';
import { grantedPort, type Places, packetWays } from './packet-ways.ts';
import { arpReply, etherTypes, frame, hardwareBytes } from './packets.ts';
import { markOf, sendFrames, type Tap, tap } from './wire.ts';

const names = Object.keys(packetWays);
const resolver = '203.0.113.53';
const allowed = '203.0.113.10';

let host: TestHost;
let instance: Instance;
let internet: Driven;
let slot: Slot;
let neighbour: Slot;
let places: Places;
let taps: Tap[];

beforeAll(async () => {
  host = await createTestHost();
  await batch(host.outside, ['route add local 203.0.113.0/24 dev lo']);
  internet = drive(host.outside.path, 'outside.ts');
  await internet.call('zone', { name: 'api.test', addresses: [allowed] });
  instance = host.start({ poolSize: 1, egressPath: join(NATIVE, 'sandhaven-egress') });
  writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, `nameserver ${resolver}\n`);
  await instance.init();
  const granted = rules('https://api.test', `udp://${publicAddress}:${grantedPort}`);
  slot = await instance.acquire('sb_0000000000000001', granted);
  neighbour = await instance.acquire('sb_0000000000000002', open);
  await letThroughMore();
  places = await placesOf();
  taps = await Promise.all([host.outside, inside(neighbour)].map(tap));
});

afterAll(async () => {
  for (const one of taps ?? []) one[Symbol.dispose]();
  await internet?.end();
  await host?.[Symbol.asyncDispose]();
});

/** Makes the host as obliging as an administrator may have made it: it follows source routes, and routes IPv6. */
async function letThroughMore(): Promise<void> {
  await host.run('sysctl', '-qw', 'net.ipv4.conf.all.accept_source_route=1');
  await host.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  for (const [namespace, link, address] of [
    [inside(slot), 'eth0', 'fd77::2/64'],
    [host, slot.hostInterface, 'fd77::1/64'],
    [host, host.uplink, 'fd88::1/64'],
    [host.outside, 'eth0', 'fd88::2/64'],
  ] as [Namespace, string, string][]) {
    await namespace.run('sysctl', '-qw', `net.ipv6.conf.${link}.disable_ipv6=0`);
    await namespace.run('ip', 'address', 'add', address, 'dev', link, 'nodad');
  }
  await host.run('ip', '-6', 'route', 'add', 'default', 'via', 'fd88::2', 'dev', host.uplink);
  // Its end of the uplink has no address to ask for that of the other under.
  const other = (await hardwareOf(host.outside, 'eth0')).toString('hex').replace(/..(?=.)/g, '$&:');
  await host.run('ip', 'neighbour', 'add', 'fd88::2', 'lladdr', other, 'dev', host.uplink);
}

async function hardwareOf(namespace: Namespace, link: string): Promise<Buffer> {
  return hardwareBytes(
    JSON.parse(await namespace.run('ip', '-json', 'link', 'show', 'dev', link))[0].address,
  );
}

async function placesOf(): Promise<Places> {
  return {
    ...{ own: slot.address, neighbour: neighbour.address, gateway: slot.gateway, host: hostAddress },
    ...{ granted: publicAddress, allowed, forbidden: '203.0.113.66', resolver, own6: 'fd77::2' },
    hardware: {
      own: await hardwareOf(inside(slot), 'eth0'),
      host: await hardwareOf(host, slot.hostInterface),
      neighbour: await hardwareOf(inside(neighbour), 'eth0'),
    },
  };
}

async function sendAll(): Promise<void> {
  for (const { marks } of taps) marks.clear();
  const frames = names.flatMap((name, at) => packetWays[name]?.(Buffer.from(markOf(at)), places) ?? []);
  await sendFrames(inside(slot), 'eth0', frames);
}

/** Names of those that have come to the outside or to the neighbour. */
function arrived(): string[] {
  return names.filter((_, at) => taps.some(({ marks }) => marks.has(markOf(at))));
}

describe('a packet leads nowhere that is', () => {
  beforeAll(async () => {
    const code = `const dns = new (require('dns').promises.Resolver)(); dns.setServers(['${slot.gateway}']);
      dns.resolve4('api.test').then((found) => console.log(found.join()));`;
    expect((await inside(slot).node(code)).trim()).toBe(allowed);
    await sendAll();
    // A granted one that is sent behind them arrives.
    await sendUdp(inside(slot), publicAddress, grantedPort, '', markOf(9_999));
    await vi.waitFor(() => expect(taps[0]?.marks).toContain(markOf(9_999)), { timeout: 10_000 });
    await sleep(300);
  });

  it.each(names)('%s', (name) => {
    expect(arrived()).not.toContain(name);
  });
});

it('answers to ARP for the addresses of others take none of their packets', async () => {
  using _ = await serve(host.outside, 9_002);
  const { own, host: hostEnd } = places.hardware;
  const lies = [neighbour.address, slot.gateway, hostAddress].map((address) =>
    frame(hostEnd, own, etherTypes.arp, arpReply(address, own, Buffer.alloc(18))),
  );
  await sendFrames(inside(slot), 'eth0', lies);
  expect(await sendUdp(inside(neighbour), publicAddress, 9_002)).toBe('hello');
});

/** Linux lets none of these go further: not for an address of its own, nor for a link that knows no such frame. */
const stoppedByLinux = [
  'a datagram under the gateway’s address',
  'a datagram under the host’s public address',
  'a frame to the hardware address of a neighbour',
  'a frame of a virtual network (802.1Q)',
  'IPv6 to all on the link',
];

it('without the tables all others arrive: the checks above can fail', async () => {
  await instance.kill();
  // That of traffic too: while a table asks for connections, the kernel puts fragments together.
  for (const table of [`sandhaven_${instance.id}`, `sandhaven_${instance.id}_traffic`]) {
    await host.run('nft', 'delete', 'table', 'inet', table);
  }
  await sendAll();
  await expect.poll(() => names.filter((name) => !arrived().includes(name))).toEqual(stoppedByLinux);
});
