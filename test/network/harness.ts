/**
 * Hosts for network tests: each is a network namespace with an uplink to an "outside" namespace that plays the
 * internet and everything else that a sandbox might reach. No packet leaves the two, and both go with the
 * processes that hold them.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { NATIVE } from '../../src/app/engine/installed.ts';
import type { ShownTraffic } from '../../src/control/network/traffic/traffic-watch.ts';
import { randomText } from '../../src/model/ids.ts';
import type { LearningPolicy, NetworkPolicy } from '../../src/model/network/policy.ts';
import type { NetworkEvent } from '../../src/model/network/traffic.ts';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';
import type { MachineSecrets } from '../../src/runtime/oci/network/policies.ts';

export const launcherPath = join(NATIVE, 'sandhaven-launcher');
const node = process.execPath;

/** The host's end of its uplink, and an address of the outside that is public as far as the rules know. */
export const hostAddress = '198.51.100.1';
export const publicAddress = '198.51.100.2';
/** What the outside also answers on: places that no sandbox may reach, though the host has a route to them. */
export const forbiddenAddresses = [
  '10.77.0.1',
  '172.20.0.1',
  '192.168.7.1',
  '100.100.100.200',
  '169.254.169.254',
  '168.63.129.16',
];

export interface Namespace {
  /** As a path that nsenter takes. */
  path: string;
  run(command: string, ...args: string[]): Promise<string>;
  /** Like `run`, for a piece of JavaScript. */
  node(code: string, ...args: string[]): Promise<string>;
}

export interface TestHost extends Namespace {
  outside: Namespace;
  uplink: string;
  /** Makes a folder that goes with the host. */
  folder(): string;
  start(options?: object): Instance;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A running service's slots, in a process that can be killed and started again. */
export interface Instance {
  id: string;
  init(): Promise<void>;
  /** Resolves once the policy is in force: an open network, and with null none. */
  acquire(
    sandboxId: string,
    policy?: NetworkPolicy | LearningPolicy | null,
    secrets?: MachineSecrets,
  ): Promise<Slot>;
  setNetwork(
    sandboxId: string,
    policy: NetworkPolicy | LearningPolicy,
    secrets?: MachineSecrets,
  ): Promise<void>;
  get(sandboxId: string): Promise<Slot | null>;
  release(sandboxId: string): Promise<void>;
  held(): Promise<string[]>;
  free(): Promise<number>;
  /** Traffic of a sandbox, where the options have a watch; and one more look of that. */
  traffic(sandboxId: string): Promise<ShownTraffic>;
  settle(): Promise<void>;
  /** Changes the watch's day, such as 2026-01-05. */
  setDay(day: string): Promise<void>;
  close(): Promise<void>;
  purge(): Promise<void>;
  /** Events of machines with rules so far. */
  events: NetworkEvent[];
  /** Log so far, as text. */
  log(): string;
  /** kill -9 */
  kill(): Promise<void>;
  /** Purges, where the process still runs, and ends it. */
  end(): Promise<void>;
}

export async function createTestHost(): Promise<TestHost> {
  const holders: ChildProcess[] = [];
  const instances: Instance[] = [];
  const host = await createNamespace(holders);
  const outside = await createNamespace(holders);
  const uplink = `up${randomText(8)}`;
  await host.run('ip', 'link', 'add', uplink, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', outside.path);
  await batch(host, [
    'link set lo up',
    // An address that IPv6 gives itself appears a second later, in the middle of a comparison.
    `link set ${uplink} addrgenmode none`,
    `link set ${uplink} up`,
    `address add ${hostAddress}/24 dev ${uplink}`,
    `route add default via ${publicAddress}`,
  ]);
  await batch(outside, [
    'link set lo up',
    'link set eth0 up',
    `address add ${publicAddress}/24 dev eth0`,
    ...forbiddenAddresses.map((address) => `address add ${address}/32 dev lo`),
    // Replies find their way whatever the source: what is not masqueraded must fail by our rules alone.
    `route add default via ${hostAddress}`,
  ]);
  const folders: string[] = [];
  return {
    ...host,
    outside,
    uplink,
    folder() {
      const folder = mkdtempSync(join(tmpdir(), 'sandhaven-network-'));
      folders.push(folder);
      return folder;
    },
    start(options = {}) {
      const instance = startInstance(host, options);
      instances.push(instance);
      return instance;
    },
    async [Symbol.asyncDispose]() {
      try {
        for (const id of new Set(instances.map((instance) => instance.id))) {
          const own = instances.filter((one) => one.id === id);
          await Promise.all(own.slice(0, -1).map((one) => one.kill()));
          await own.at(-1)?.end();
          // Otherwise a test killed it, or it failed.
          if (!existsSync(runDirOf(id))) continue;
          const last = startInstance(host, { instanceId: id });
          await last.purge();
          await last.kill();
          rmSync(runDirOf(id), { recursive: true });
        }
      } finally {
        for (const holder of holders) holder.stdin?.end();
        for (const folder of folders) rmSync(folder, { recursive: true });
      }
    },
  };
}

export function runDirOf(instanceId: string): string {
  return `/run/sandhaven-${instanceId}`;
}

export function inside(slot: Slot): Namespace {
  return namespaceAt(slot.netNamespacePath);
}

export async function batch(namespace: Namespace, commands: string[]): Promise<void> {
  await namespace.run('sh', '-ec', commands.map((command) => `ip ${command}`).join('\n'));
}

export async function createNamespace(holders: ChildProcess[]): Promise<Namespace> {
  // It ends with this process: its standard input does.
  const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec cat >/dev/null']);
  holders.push(holder);
  await once(holder.stdout, 'data');
  return namespaceAt(`/proc/${holder.pid}/ns/net`);
}

function namespaceAt(path: string): Namespace {
  const run = async (command: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)('nsenter', [`--net=${path}`, command, ...args], {
      maxBuffer: 1 << 24,
    });
    return stdout;
  };
  return { path, run, node: (code, ...args) => run(node, '-e', code, '--', ...args) };
}

function startInstance(host: Namespace, options: { instanceId?: string }): Instance {
  const id = options.instanceId ?? randomText(6);
  mkdirSync(runDirOf(id), { recursive: true, mode: 0o711 });
  const settings = {
    instanceId: id,
    runDir: runDirOf(id),
    dataDir: '/',
    launcherPath,
    egressPath: '/nonexistent',
    poolSize: 2,
    network: 'nat',
    resolvConfPath: join(runDirOf(id), 'resolv.conf'),
    ...options,
  };
  const child = spawn('nsenter', [
    `--net=${host.path}`,
    node,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'driver.ts'),
    JSON.stringify(settings),
  ]);
  const exited = once(child, 'exit');
  const events: NetworkEvent[] = [];
  const waiting = new Map<number, (answer: { result?: unknown; error?: { code: string } }) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line);
    events.push(...(answer.events ?? []));
    waiting.get(answer.call)?.(answer);
    waiting.delete(answer.call);
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  child.on('exit', () => {
    for (const answer of waiting.values())
      answer({ error: Object.assign(new Error(`driver ended: ${log}`), { code: 'ended' }) });
  });
  let calls = 0;
  type Arguments = [
    sandboxId?: string,
    policy?: NetworkPolicy | LearningPolicy | null,
    secrets?: MachineSecrets,
  ];
  const call =
    (method: string) =>
    async (...[sandboxId, policy, secrets]: Arguments) => {
      const number = ++calls;
      const answer = new Promise<{ result?: unknown; error?: { code: string } }>((resolve) =>
        waiting.set(number, resolve),
      );
      child.stdin.write(`${JSON.stringify({ call: number, method, sandboxId, policy, secrets })}\n`);
      const { result, error } = await answer;
      if (error) throw Object.assign(new Error(JSON.stringify(error)), error);
      return result;
    };
  const methods = ['init', 'setNetwork', 'get', 'release', 'held', 'free', 'close', 'purge'];
  methods.push('traffic', 'settle', 'setDay');
  const acquire = call('acquire');
  return {
    id,
    events,
    ...Object.fromEntries(methods.map((method) => [method, call(method)])),
    acquire: (
      sandboxId: string,
      policy: NetworkPolicy | LearningPolicy | null = { mode: 'open' },
      secrets?: MachineSecrets,
    ) => acquire(sandboxId, policy, secrets),
    log: () => log,
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
    async end() {
      child.stdin.end();
      await exited;
    },
  } as Instance;
}
