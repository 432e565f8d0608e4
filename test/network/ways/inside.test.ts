/** Ways around the rules with the sockets and rights that a real sandbox has. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '../../egress/support/messages.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { commandOf } from './attempts.ts';

/** Outcomes by way. A refusal without an answer is `unreachable`, as one with an error of ICMP is. */
const expected: Record<string, string> = {
  'a raw socket': 'EPERM',
  'a raw socket with heads of its own': 'EPERM',
  'a packet socket': 'EPERM',
  'a packet socket without heads': 'EPERM',
  'a raw socket of IPv6': 'EPERM',
  'a socket of SCTP': 'EPROTONOSUPPORT',
  'a socket of DCCP': 'EPROTONOSUPPORT',
  'a socket to the hypervisor (vsock)': 'EAFNOSUPPORT',
  'a socket of XDP': 'EAFNOSUPPORT',
  'a socket of Bluetooth': 'EAFNOSUPPORT',
  'a socket of keys (IPsec)': 'EAFNOSUPPORT',
  'IPv6 to a public address': 'EADDRNOTAVAIL',
  'IPv6 to all on the link': 'EINVAL',
  'a mapped IPv4 address over IPv6': '403',
  'a new route': 'refused',
  'another address': 'refused',
  'another hardware address': 'refused',
  'a tunnel of GRE': 'refused',
  'a tunnel of WireGuard': 'refused',
  'a bridge': 'refused',
  'a device of tunnels (TUN)': 'ENOENT',
  'a device of virtual machines': 'ENOENT',
  'IPv6 switched on': 'EACCES',
  'forwarding switched on': 'EACCES',
  'a mark for the firewall': 'EPERM',
  'a transparent socket': 'EPERM',
  'a public address by HTTP': '403',
  'a public address by TLS': 'alert',
  'a public address by another protocol': 'ECONNRESET',
  'DNS over UDP to another resolver': 'unreachable',
  'DNS over TLS to another resolver': 'alert',
  'an echo request (ping)': 'unreachable',
  QUIC: 'unreachable',
  'the time of a server (NTP)': 'unreachable',
  'all on the link by broadcast': 'EACCES',
  'a group of addresses (multicast)': 'unreachable',
  'the metadata service': 'unreachable',
  'the metadata services at other addresses': 'unreachable',
  'a private network': 'unreachable',
  'a program of the host at the host’s addresses': 'unreachable',
  'the API, previews and SSH at the host’s addresses': 'unreachable',
  'the API, previews and SSH on the loopback': 'ECONNREFUSED',
  'the gateway at ports of others': 'unreachable',
  'the gate and the resolver at their own ports': 'unreachable',
  'a program of a neighbour': 'unreachable',
  'an abstract Unix socket of the host': 'ECONNREFUSED',
};

const abstractSocket = `sandhaven-ways-${process.pid}`;
let service: Service;
let servers: [Server, Server];
let outcomes: Record<string, string>;

beforeAll(async () => {
  servers = [createServer((socket) => socket.end('the host')), createServer()];
  servers[0].listen(0, '0.0.0.0');
  servers[1].listen(`\0${abstractSocket}`);
  service = await startService();
  const rules = { allow: ['https://allowed.test', 'udp://203.0.113.7:123'] };
  await must(service, 'CreateSandbox', { name: 'attacker', network: rules });
  await must(service, 'CreateSandbox', { name: 'neighbour', network: 'open' });
  const neighbour = await run('neighbour', 'nohup python3 -m http.server 8000 >/dev/null 2>&1 & hostname -I');
  const output = await run(
    'attacker',
    commandOf({ ...hostFacts(), neighbour: neighbour.trim(), neighbourPort: 8000 }),
  );
  outcomes = JSON.parse(output);
}, 120_000);

afterAll(async () => {
  for (const server of servers ?? []) server.close();
  await service?.stop();
});

async function run(sandbox: string, command: string): Promise<string> {
  const { output } = await must(service, 'RunCommand', { sandbox, command, timeout_seconds: 90 });
  return String(output);
}

function hostFacts() {
  const table = execFileSync('nft', ['list', 'table', 'inet', `sandhaven_${instance()}`]).toString();
  // Those to the gate are two: of sandboxes with rules, and of those with secrets.
  const found = [...table.matchAll(/dnat ip to ([\d.]+):(\d+)/g)];
  const ways = [...new Map(found.map((way) => [way[0], way])).values()];
  expect(ways.length).toBe(2);
  return {
    hostAddresses: Object.values(networkInterfaces())
      .flatMap((entries) => entries ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .map(({ address }) => address),
    hostPort: (servers[0].address() as AddressInfo).port,
    servicePorts: listeningPorts(),
    gateway: ways[0]?.[1] ?? '',
    gatewayPorts: ways.map(([, , port]) => Number(port)),
    abstractSocket,
    hello: hello(['evil.test']).toString('hex'),
  };
}

/** Ports that the service listens on: of the API, previews and SSH. */
function listeningPorts(): number[] {
  const text = execFileSync('ss', ['-Hltnp']).toString();
  const lines = text.split('\n').filter((line) => line.includes(`pid=${service.pid},`));
  const ports = lines.map((line) => Number(/:(\d+)\s/.exec(line)?.[1]));
  expect(ports.length).toBeGreaterThanOrEqual(3);
  return ports;
}

const instance = () => readFileSync(`${service.dataDir}/instance`, 'utf8').trim();

describe('a sandbox gets nowhere by', () => {
  it.each(Object.entries(expected))('%s', (way, outcome) => {
    expect(outcomes[way]).toBe(outcome);
  });

  it('any way that is tried and not named here', () => {
    expect(Object.keys(outcomes).filter((way) => !(way in expected))).toEqual([]);
  });
});
