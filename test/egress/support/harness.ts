/**
 * The real egress program between sandboxes and an internet, each a network namespace of its own, with the firewall's
 * redirections as the engine makes them. No packet leaves the three, and all of it goes with the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { blockedIPv4 } from '../../../src/model/network/public-addresses.ts';
import {
  batch,
  createNamespace,
  createTestHost,
  type Namespace,
  type TestHost,
} from '../../network/harness.ts';
import { type Driven, drive } from './drive.ts';
import { type Answer, question, readAnswer, types } from './messages.ts';
import { compileRule } from './rules.ts';

export const gateway = '10.213.255.254';
/** Addresses of sandboxes. Nobody sets a policy of the last. */
export const [sandbox, neighbour, stranger] = ['10.213.0.5', '10.213.0.6', '10.213.0.7'] as const;
const resolverAddress = '203.0.113.53';
const nobody = '65534';

export interface Connection {
  id: number;
  write(bytes: Buffer | string): Promise<void>;
  end(): Promise<void>;
  /** Returns what came until it ended, or until the time was over. */
  over(timeoutMs?: number): Promise<Received>;
  state(): Promise<Received>;
}

export interface Received {
  head: Buffer;
  bytes: number;
  ended: 'open' | 'end' | 'reset';
}

export interface EgressEvent {
  sandbox: string;
  kind: string;
  name: string | null;
  address: string | null;
  port: number | null;
  rule: string | null;
  secret: string | null;
  allowed: boolean;
  why: string | null;
  sent: number;
  received: number;
  ended: boolean;
  dropped?: number;
}

export interface Program {
  child: ChildProcess;
  /** All events so far. */
  events: EgressEvent[];
  command(command: object): Promise<void>;
  send(text: string): void;
  /** Puts rules in force, which are texts. */
  allow(address: string, rules: string[], more?: { id?: string; owner?: string }): Promise<void>;
  kill(): Promise<void>;
}

export interface Internet {
  program: Program;
  inside: Driven;
  outside: Driven;
  host: TestHost;
  /** Paths of the network namespaces. */
  namespaces: { inside: string; outside: string };
  connect(to: string, port: number, from?: string): Promise<Connection>;
  /** Connects, sends, and waits for the end. */
  talk(to: string, port: number, bytes: Buffer | string, from?: string): Promise<Received>;
  ask(message: Buffer, from?: string): Promise<Answer | null>;
  resolve(name: string, from?: string): Promise<string[]>;
  zone(name: string, zone: object): Promise<void>;
  /** Bytes that servers got since the last call, by connection. */
  seen(): Promise<{ address: string; port: number; text: string }[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param env Variables of the program. */
export async function createInternet(env: Record<string, string> = {}): Promise<Internet> {
  const holders: ChildProcess[] = [];
  const host = await createTestHost();
  const sandboxes = await createNamespace(holders);
  await connectNamespaces(host, sandboxes);
  const program = await startProgram(host, env);
  await redirect(host, program.ports);
  const [inside, outside] = [drive(sandboxes.path, 'inside.ts'), drive(host.outside.path, 'outside.ts')];
  await program.command({ resolvers: [resolverAddress] });
  return {
    program,
    inside,
    outside,
    host,
    namespaces: { inside: sandboxes.path, outside: host.outside.path },
    ...callsOf(inside, outside),
    async [Symbol.asyncDispose]() {
      await Promise.all([inside.end(), outside.end(), program.kill()]);
      for (const holder of holders) holder.stdin?.end();
      await host[Symbol.asyncDispose]();
    },
  };
}

function callsOf(inside: Driven, outside: Driven) {
  const received = (state: Omit<Received, 'head'> & { head: string }): Received => ({
    ...state,
    head: Buffer.from(state.head, 'base64'),
  });
  const connect = async (to: string, port: number, from: string = sandbox): Promise<Connection> => {
    const id = await inside.call<number>('open', { from, host: to, port });
    return {
      id,
      write: (bytes) =>
        inside.call('write', { id, bytes: Buffer.from(bytes as string, 'latin1').toString('base64') }),
      end: () => inside.call('end', { id }),
      over: async (timeoutMs = 5_000) => received(await inside.call('over', { id, timeoutMs })),
      state: async () => received(await inside.call('state', { id })),
    };
  };
  const ask = async (message: Buffer, from: string = sandbox) => {
    const given = { from, host: gateway, message: message.toString('base64'), timeoutMs: 3_000 };
    const answer = await inside.call<string | null>('askUdp', given);
    return answer === null ? null : readAnswer(Buffer.from(answer, 'base64'));
  };
  return {
    connect,
    ask,
    async talk(to: string, port: number, bytes: Buffer | string, from?: string) {
      const connection = await connect(to, port, from);
      await connection.write(bytes);
      return connection.over();
    },
    async resolve(name: string, from?: string) {
      return (await ask(question(name, types.A), from))?.addresses ?? [];
    },
    zone: (name: string, zone: object) => outside.call<void>('zone', { name, ...zone }),
    seen: () => outside.call<{ address: string; port: number; text: string }[]>('seen'),
  };
}

async function connectNamespaces(host: TestHost, sandboxes: Namespace): Promise<void> {
  await host.run('ip', 'link', 'add', 'sb0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', sandboxes.path);
  await batch(host, [
    `address add ${gateway}/32 dev lo`,
    'link set sb0 up',
    'route add 10.213.0.0/24 dev sb0',
  ]);
  await host.run('sysctl', '-qw', 'net.ipv4.conf.sb0.proxy_arp=1', 'net.ipv4.conf.sb0.rp_filter=0');
  await batch(sandboxes, [
    'link set lo up',
    'link set eth0 up',
    ...[sandbox, neighbour, stranger].map((address) => `address add ${address}/32 dev eth0`),
    `route add ${gateway} dev eth0`,
    `route add default via ${gateway}`,
  ]);
  // Every address of this network is the outside's.
  await batch(host.outside, ['route add local 203.0.113.0/24 dev lo']);
}

/** As the engine does: the name service to the resolver, all TCP to the gate, and nothing through. */
async function redirect(host: TestHost, { gate, dns }: Ports): Promise<void> {
  await host.run(
    'nft',
    `table ip egress {
      chain arrive {
        type nat hook prerouting priority dstnat;
        iifname "sb0" ip daddr ${gateway} udp dport 53 dnat to ${gateway}:${dns}
        iifname "sb0" ip daddr ${gateway} tcp dport 53 dnat to ${gateway}:${dns}
        iifname "sb0" meta l4proto tcp dnat to ${gateway}:${gate}
      }
      chain forward { type filter hook forward priority 0; policy drop; }
    }`,
  );
}

interface Ports {
  gate: number;
  dns: number;
}

async function startProgram(
  host: Namespace,
  env: Record<string, string>,
): Promise<Program & { ports: Ports }> {
  const args = [
    '--gateway',
    gateway,
    '--public-except',
    blockedIPv4.join(','),
    '--uid',
    nobody,
    '--gid',
    nobody,
  ];
  const child = spawn('nsenter', [`--net=${host.path}`, join(NATIVE, 'sandhaven-egress'), ...args], {
    env: { ...process.env, ...env },
  });
  child.stderr.pipe(process.stderr);
  child.stdin.on('error', () => {});
  const exited = once(child, 'exit');
  const waiting = new Map<number, (why: string | null) => void>();
  const events: EgressEvent[] = [];
  let ready: (ports: Ports) => void = () => {};
  const ports = new Promise<Ports>((resolve) => {
    ready = resolve;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.ready) ready(message.ready);
    if (message.events) events.push(...message.events);
    if (message.done) waiting.get(message.done)?.(null);
    if (message.failed !== undefined) waiting.get(message.failed ?? 0)?.(message.why);
  });
  let last = 0;
  const command = async (given: object) => {
    const id = ++last;
    const why = await new Promise<string | null>((resolve) => {
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ id, ...given })}\n`);
    });
    if (why !== null) throw new Error(why);
  };
  return {
    child,
    ports: await ports,
    command,
    send: (text) => void child.stdin.write(text),
    events,
    allow: (address, rules, { id = `sb_${address}`, owner = 'us_1' } = {}) =>
      command({ set: { address, sandbox: id, owner, rules: rules.map(compileRule) } }),
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}
