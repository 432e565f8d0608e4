/**
 * The real agent as PID 1 of PID and mount namespaces over the base image, with nothing else of the engine:
 * what needs only an agent is tested against this in milliseconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAgentLink } from '../../src/agent-link/agent-link.ts';
import type { AgentLink, ExecResult } from '../../src/control/ports/index.ts';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const AGENT = here('../../native/target/x86_64-unknown-linux-gnu/release/sandhaven-agent');

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
  socketPath: string;
  openChannel(): Promise<Socket>;
  /** A shell command's result. */
  sh(
    command: string,
    options?: { timeoutMs?: number; cwd?: string; signal?: AbortSignal },
  ): Promise<ExecResult>;
  /** What the host does to stop it; resolves with the milliseconds that it took. */
  terminate(): Promise<number>;
}

/** @param options.diskBytes Of the throw-away layer. */
export async function startScratchSandbox(options: { diskBytes?: number } = {}): Promise<ScratchSandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-agent-'));
  // By its folder's descriptor: TMPDIR may be longer than a socket's path may be.
  const descriptor = openSync(folder, 'r');
  const socketPath = `/proc/${pid}/fd/${descriptor}/agent.sock`;
  const scratch = mkdtempSync(join(folder, 'scratch-'));
  const id = 'sb_0123456789abcdef';
  const generation = 7;
  const process = launch(socketPath, scratch, options.diskBytes ?? 1 << 30, id, generation);
  const ended = once(process, 'exit');
  const openChannel = () => connectTo(socketPath);
  const agent = createAgentLink({ openChannel });
  const env = STANDARD_ENV;
  const sandbox: ScratchSandbox = {
    id,
    generation,
    agent,
    socketPath,
    openChannel,
    sh: (command, { timeoutMs = 10_000, cwd = '.', signal } = {}) =>
      agent.exec(id, { argv: ['bash', '-c', command], cwd, env, timeoutMs }, signal),
    async terminate() {
      const started = performance.now();
      signalAgent(process, 'SIGTERM');
      await ended;
      return performance.now() - started;
    },
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

function launch(socketPath: string, scratch: string, diskBytes: number, id: string, generation: number) {
  const lower = join(defaultCacheDir(), 'base/current/rootfs');
  for (const [path, how] of [
    [lower, 'make image'],
    [AGENT, 'make build'],
  ] as const) {
    if (!existsSync(path)) throw new Error(`${path} is missing: run '${how}'.`);
  }
  return spawn(
    'perl',
    [
      ...[here('donate-socket.pl'), socketPath],
      ...['unshare', '--fork', '--kill-child', '--pid', '--mount', here('scratch-sandbox.sh')],
      ...[lower, scratch, AGENT, String(diskBytes)],
      ...['--sandbox-id', id, '--generation', String(generation)],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
}

async function answering(sandbox: ScratchSandbox, process: ChildProcess): Promise<void> {
  for (;;) {
    try {
      return await sandbox.agent.hello(sandbox.id, sandbox.generation);
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

function connectTo(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
