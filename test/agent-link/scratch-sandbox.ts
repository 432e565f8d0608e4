/**
 * The real agent as PID 1 of PID and mount namespaces over the base image, with nothing else of the engine:
 * what needs only an agent is tested against this in milliseconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid, env as processEnv } from 'node:process';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAgentLink } from '../../src/agent-link/agent-link.ts';
import { serviceIdentity } from '../../src/agent-link/authority.ts';
import { NATIVE } from '../../src/app/engine/installed.ts';
import type { AgentLink, ExecResult } from '../../src/control/ports/index.ts';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { channelsTo, type Reach } from './reach.ts';
import {
  AGENT_PORT,
  INSTALLATION,
  type Installation,
  newInstallation,
  ownAddress,
  writeSecret,
} from './tls/installation.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const AGENT = join(NATIVE, 'sandhaven-agent');

const STANDARD_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

export interface ScratchSandbox extends AsyncDisposable {
  id: string;
  generation: number;
  agent: AgentLink;
  /** Where its agent is reached. */
  reach: Reach;
  openChannel(): Promise<Duplex>;
  /** A shell command's result. */
  sh(
    command: string,
    options?: { timeoutMs?: number; cwd?: string; signal?: AbortSignal },
  ): Promise<ExecResult>;
  /** What the host does to stop it; resolves with the milliseconds that it took. */
  terminate(): Promise<number>;
  /** What the agent itself has worked so far. */
  processorMs(): number;
}

export type Transport = 'socket' | 'tls';

export interface ScratchOptions {
  /** Of the throw-away layer. */
  diskBytes?: number;
  transport?: Transport;
  /** Issuer of the certificates; by default a new one. */
  installation?: Installation;
  /** Files of the sandbox, or a mount as in Kubernetes. */
  secret?: 'copied' | 'mounted';
  /** Folder of the host that the agent carries as a disk, in place of a sandbox; with the transport `tls`. */
  carried?: string;
}

let usual: Transport = 'socket';

/** Of all sandboxes that this file of tests starts from now on. */
export function useTransport(transport: Transport): void {
  usual = transport;
}

export async function startScratchSandbox(options: ScratchOptions = {}): Promise<ScratchSandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-agent-'));
  // By its folder's descriptor: TMPDIR may be longer than a socket's path may be.
  const descriptor = openSync(folder, 'r');
  const id = 'sb_0123456789abcdef';
  const generation = 7;
  const { reach, process } = launch(
    folder,
    `/proc/${pid}/fd/${descriptor}/agent.sock`,
    id,
    generation,
    options,
  );
  const ended = once(process, 'exit');
  const openChannel = channelsTo(reach);
  const agent = createAgentLink({ openChannel });
  const env = STANDARD_ENV;
  const sandbox: ScratchSandbox = {
    id,
    generation,
    agent,
    reach,
    openChannel,
    sh: (command, { timeoutMs = 10_000, cwd = '.', signal } = {}) =>
      agent.exec(id, { argv: ['bash', '-c', command], cwd, env, timeoutMs }, signal),
    async terminate() {
      const started = performance.now();
      signalAgent(process, 'SIGTERM');
      await ended;
      return performance.now() - started;
    },
    processorMs: () => Math.max(...readChildren(process.pid).map(processorMsOf)),
    async [Symbol.asyncDispose]() {
      process.kill('SIGKILL');
      await ended;
      closeSync(descriptor);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await answering(sandbox, process);
  } catch (error) {
    await sandbox[Symbol.asyncDispose]();
    throw error;
  }
  return sandbox;
}

function launch(
  folder: string,
  socketPath: string,
  id: string,
  generation: number,
  options: ScratchOptions,
): { reach: Reach; process: ChildProcess } {
  const lower = join(defaultCacheDir(), 'base/current/rootfs');
  for (const [path, how] of [
    [lower, 'make image'],
    [AGENT, 'make build'],
  ] as const) {
    if (!existsSync(path)) throw new Error(`${path} is missing: run '${how}'.`);
  }
  const scratch = mkdtempSync(join(folder, 'scratch-'));
  const { diskBytes = 1 << 30, transport = usual, secret = 'copied' } = options;
  const identity = ['--sandbox-id', id, '--generation', String(generation)];
  const inNamespaces = (source: string, arguments_: string[]) => [
    ...['unshare', '--fork', '--kill-child', '--pid', '--mount', here('scratch-sandbox.sh')],
    ...[lower, scratch, AGENT, String(diskBytes), source, secret, ...arguments_],
  ];
  const { carried } = options;
  const env = { ...processEnv, ...(carried === undefined ? {} : { CARRIED: carried }) };
  const start = (command: string, args: string[]) =>
    spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (transport === 'socket') {
    const command = inNamespaces('none', identity);
    return {
      reach: { socketPath },
      process: start('perl', [here('donate-socket.pl'), socketPath, ...command]),
    };
  }
  const installation = options.installation ?? newInstallation();
  const source = join(folder, 'secret');
  writeSecret(source, installation, id, generation);
  const host = ownAddress();
  const [command = '', ...args] = inNamespaces(source, [
    ...identity,
    ...['--listen', `tls://${host}:${AGENT_PORT}`, '--tls-dir', '/run/secret'],
    ...['--service', serviceIdentity(INSTALLATION)],
    ...(carried === undefined ? [] : ['--carry', '/carried']),
  ]);
  const { authority, service } = installation;
  const agent = { sandboxId: id, generation, host, port: AGENT_PORT };
  return { reach: { agent, authority: authority.certificate, service }, process: start(command, args) };
}

async function answering(sandbox: ScratchSandbox, process: ChildProcess): Promise<void> {
  for (;;) {
    try {
      await sandbox.agent.hello(sandbox.id, sandbox.generation);
      return;
    } catch (error) {
      if (process.exitCode !== null) throw error;
      await sleep(5);
    }
  }
}

/** Signals PID 1 inside, which is the one child of `unshare`. */
function signalAgent(unshare: ChildProcess, signal: NodeJS.Signals): void {
  const children = readChildren(unshare.pid);
  for (const pid of children) process.kill(pid, signal);
}

function readChildren(pid: number | undefined): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Source: proc_pid_stat(5); a tick is a hundredth of a second. */
function processorMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 13).reduce((ms, ticks) => ms + Number(ticks) * 10, 0);
}
