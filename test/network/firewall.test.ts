import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';
import { inPart } from '../deep/parts.ts';
import {
  batch,
  createTestHost,
  hostAddress,
  type Instance,
  inside,
  type Namespace,
  publicAddress,
  type TestHost,
} from './harness.ts';
import { connectTcp, sendUdp, serve } from './probe.ts';

const port = 18_082;
const sandbox = 'sb_0000000000000001';
/** A network of the host's own, which sandboxes have nothing to do with. */
const lanAddress = '203.0.113.2';

let host: TestHost;
let server: Disposable;

beforeEach(async () => {
  host = await createTestHost();
  server = await serve(host.outside, port);
});

afterEach(async () => {
  server?.[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

async function started(options: object = {}): Promise<{ instance: Instance; slot: Slot }> {
  const instance = host.start({ poolSize: 1, ...options });
  await instance.init();
  return { instance, slot: await instance.acquire(sandbox) };
}

const connects = (slot: Slot) => connectTcp(inside(slot), publicAddress, port);
const forwarding = async (link: string) =>
  (await host.run('sysctl', '-n', `net.ipv4.conf.${link}.forwarding`)).trim();
/** Rules for this instance outside of its own table. */
async function foreignRules(instance: Instance, show: string[]): Promise<number> {
  const [command = '', ...args] = show;
  const tables = (await host.run(command, ...args)).split(/^(?=table )/m);
  const text = tables.filter((table) => !table.startsWith(`table inet sandhaven_${instance.id}`)).join('');
  return text.match(new RegExp(`sh${instance.id}-[*+]`, 'g'))?.length ?? 0;
}

/** A second network behind the host, reached by the outside when the host forwards. */
async function addLan(): Promise<{ lan: Namespace } & Disposable> {
  const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec cat >/dev/null']);
  await once(holder.stdout, 'data');
  const path = `/proc/${holder.pid}/ns/net`;
  await host.run('ip', 'link', 'add', 'lan', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', path);
  await batch(host, [
    'link set lan addrgenmode none',
    'link set lan up',
    'address add 203.0.113.1/24 dev lan',
  ]);
  const run = (command: string, ...args: string[]) => host.run('nsenter', `--net=${path}`, command, ...args);
  const lan = {
    path,
    run,
    node: (code: string, ...args: string[]) => run(process.execPath, '-e', code, '--', ...args),
  };
  await batch(lan, [
    'link set eth0 up',
    `address add ${lanAddress}/24 dev eth0`,
    'route add default via 203.0.113.1',
  ]);
  return { lan, [Symbol.dispose]: () => holder.stdin.end() };
}

describe('on a host that forwards nothing', () => {
  it('replies come in for sandboxes, and nothing else is forwarded', async () => {
    using net = await addLan();
    using _ = await serve(net.lan, port);
    expect(await forwarding(host.uplink)).toBe('0');
    const { instance, slot } = await started();
    await host.run('sysctl', '-qw', 'net.ipv4.conf.lan.forwarding=1');
    expect(await forwarding(host.uplink)).toBe('1');
    expect(await connects(slot)).toBe('hello');
    expect(await connectTcp(host.outside, lanAddress, port)).toBe('timeout');
    // Without the rule it would be.
    await instance.kill();
    await host.run('nft', 'flush', 'ruleset');
    expect(await connectTcp(host.outside, lanAddress, port)).toBe('hello');
  });

  it('forwarding goes off again with the last instance that needs it', async () => {
    const [first, second] = await Promise.all([started(), started()]);
    await first.instance.purge();
    expect(await forwarding(host.uplink)).toBe('1');
    expect(await connects(second.slot)).toBe('hello');
    await second.instance.purge();
    expect(await forwarding(host.uplink)).toBe('0');
  });
});

describe('on a host that is a router', () => {
  it('its own forwarding goes on, before and after', async () => {
    await host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    using net = await addLan();
    using _ = await serve(net.lan, port);
    const { instance, slot } = await started();
    expect(await connects(slot)).toBe('hello');
    expect(await connectTcp(host.outside, lanAddress, port)).toBe('hello');
    await instance.purge();
    expect(await forwarding(host.uplink)).toBe('1');
    expect(await connectTcp(host.outside, lanAddress, port)).toBe('hello');
  });

  it('nothing from the outside is routed to a machine', async () => {
    await host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    const { slot } = await started();
    using machine = await serve(inside(slot), port);
    await host.outside.run('ip', 'route', 'add', slot.address, 'via', hostAddress);
    expect(await sendUdp(host.outside, slot.address, port, '', 'knock')).toBe('timeout');
    expect(machine.received).not.toContain('knock');
  });

  it('a port of the host that leads elsewhere (as docker run -p makes them) leads no machine there', async () => {
    await host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    using net = await addLan();
    using _ = await serve(net.lan, port);
    const published = `ip daddr ${hostAddress} tcp dport 8080 dnat to ${lanAddress}:${port}`;
    await host.run(
      'nft',
      `add table ip nat; add chain ip nat pre { type nat hook prerouting priority dstnat; }`,
    );
    await host.run('nft', `add rule ip nat pre ${published}`);
    const { slot } = await started();
    expect(await connectTcp(host.outside, hostAddress, 8080)).toBe('hello');
    expect(await connectTcp(inside(slot), hostAddress, 8080)).not.toBe('hello');
  });
});

describe('on a hardened host', () => {
  it('strict reverse paths and ARP that answers for nothing cut no machine off', async () => {
    for (const setting of ['rp_filter=1', 'arp_ignore=2', 'arp_filter=1', 'arp_announce=2']) {
      await host.run('sysctl', '-qw', `net.ipv4.conf.all.${setting}`);
    }
    const { slot } = await started();
    expect(await connects(slot)).toBe('hello');
    // The forwarder refuses this by itself, so the answer is its own.
    const code = `require('dns').promises.resolve6('a.test').catch((error) => console.log(error.code))`;
    const asked = `require('dns').setServers(['${slot.gateway}']); ${code}`;
    expect((await inside(slot).node(asked)).trim()).toBe('ENODATA');
  });
});

describe('beside a firewall that drops what it does not know', () => {
  /** How it is set up, and how it is shown. */
  const firewalls: [string, string[][], string[]][] = [
    [
      'Docker’s',
      [
        ['iptables-nft', '-P', 'FORWARD', 'DROP'],
        ['iptables-nft', '-N', 'DOCKER-USER'],
        ['iptables-nft', '-I', 'FORWARD', '-j', 'DOCKER-USER'],
      ],
      ['nft', 'list', 'ruleset'],
    ],
    ['an older Docker’s', [['iptables-legacy', '-P', 'FORWARD', 'DROP']], ['iptables-legacy', '-S']],
    [
      'a table of the administrator’s',
      [
        [
          'nft',
          'add table inet admin; add chain inet admin guard { type filter hook forward priority 10; policy drop; }',
        ],
      ],
      ['nft', 'list', 'ruleset'],
    ],
  ];

  it.each(firewalls)('%s: traffic passes, once added, once removed', async (_, commands, show) => {
    for (const [command = '', ...args] of commands) await host.run(command, ...args);
    const [lister = '', ...list] = show;
    const before = await host.run(lister, ...list);
    let { instance, slot } = await started();
    expect(await connects(slot)).toBe('hello');
    await instance.kill();
    ({ instance, slot } = await started({ instanceId: instance.id }));
    expect(await connects(slot)).toBe('hello');
    expect(await foreignRules(instance, show)).toBe(2);
    await instance.purge();
    expect(withoutCounters(await host.run(lister, ...list))).toBe(withoutCounters(before));
  });

  // The administrator's is found as Docker's.
  const later = inPart('network') ? firewalls : firewalls.slice(0, 2);
  it.each(later)('%s, which comes later: traffic passes again within seconds', async (_, commands) => {
    const { slot } = await started();
    for (const [command = '', ...args] of commands) await host.run(command, ...args);
    expect(await connects(slot)).toBe('timeout');
    await expect.poll(() => connects(slot), { timeout: 8_000 }).toBe('hello');
  });

  it('iptables still works on its table', async () => {
    await host.run('iptables-nft', '-P', 'FORWARD', 'DROP');
    const { instance } = await started();
    expect(await host.run('iptables-nft', '-S', 'FORWARD')).toContain(instance.id);
  });
});

function withoutCounters(ruleset: string): string {
  return ruleset.replace(/packets \d+ bytes \d+/g, '');
}
