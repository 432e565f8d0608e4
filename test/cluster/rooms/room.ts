/**
 * A room: namespaces of its own (processes, mounts, network) for the programs of one node or of the control plane.
 * Its first process ends when this process does, however it ends, and with it the kernel kills every process in the
 * room, and takes down its mounts and links.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export interface Room {
  /** Of its first process, as the host numbers it. */
  pid: number;
  /** False from the moment that its end is asked for. */
  readonly isOpen: boolean;
  /** Starts a program in it that runs until the room ends; its output goes into a file. */
  start(argv: string[], logFile: string): ChildProcess;
  /** Runs a program in it to its end, and returns its output. */
  run(argv: string[], input?: string): string;
  /** Like `run`, for a program that may take long: the test goes on meanwhile. */
  finish(argv: string[]): Promise<void>;
  end(): Promise<void>;
}

const runFile = promisify(execFile);

/** Reaps the processes that lose their parents, until standard input ends. */
const FIRST_PROCESS = `
set -e
read -r pid rest </proc/self/stat
mount --make-rshared /
mount -t proc proc /proc
ip link set lo up
exec 3<&0
echo "$pid"
cat <&3 >/dev/null &
wait $!
`;

const NAMESPACES = ['--mount', '--net', '--pid', '--uts', '--ipc'];

/** Programs see nothing of the caller's own environment. */
const ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };

export async function openRoom(): Promise<Room> {
  const options = ['--fork', '--kill-child=KILL', '--propagation', 'private'];
  const child = spawn('unshare', [...NAMESPACES, ...options, 'sh', '-c', FIRST_PROCESS], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: ENV,
  });
  const ended = once(child, 'close');
  const line = new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once('line', resolve),
  );
  const pid = Number(await Promise.race([line, ended.then(() => 'none')]));
  if (!Number.isInteger(pid)) throw new Error('the room has no first process');
  const enter = (argv: string[]) => ['--target', String(pid), ...NAMESPACES, '--', ...argv];
  let isOpen = true;
  return {
    pid,
    get isOpen() {
      return isOpen;
    },
    start(argv, logFile) {
      const log = openSync(logFile, 'a');
      const program = spawn('nsenter', enter(argv), { stdio: ['ignore', log, log], env: ENV, cwd: '/' });
      closeSync(log);
      return program;
    },
    run: (argv, input = '') =>
      execFileSync('nsenter', enter(argv), { input, encoding: 'utf8', stdio: 'pipe', env: ENV, cwd: '/' }),
    finish: async (argv) => void (await runFile('nsenter', enter(argv), { env: ENV, cwd: '/' })),
    async end() {
      isOpen = false;
      child.stdin.end();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
