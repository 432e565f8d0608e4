/** Commands in a machine, by ssh over one connection: a new one takes seconds on an emulated processor. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Outcome {
  /** 255 where the connection failed. */
  status: number;
  stdout: string;
  stderr: string;
}

export interface Ssh {
  /** Runs a shell command as root. */
  run(command: string, options?: { input?: Buffer | string; timeoutMs?: number }): Promise<Outcome>;
  /** Copies a file of this host to a path inside. */
  copyIn(from: string, to: string): Promise<void>;
  /** Copies a file inside to a path of this host. */
  copyOut(from: string, to: string): Promise<void>;
  /** Forgets the connection: the machine at its other end is gone. */
  disconnect(): Promise<void>;
}

const COMMAND_TIMEOUT_MS = 900_000;

/** @param folder Short: the path of a socket has at most 108 bytes. */
export function createSsh(port: number, key: string, folder: string): Ssh {
  const options = [
    ...['-i', key, '-o', `ControlPath=${join(folder, 'ssh')}`],
    ...['-o', 'ControlMaster=auto', '-o', 'ControlPersist=600'],
    // Each build of the disk has a host key of its own.
    ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
    ...['-o', 'BatchMode=yes', '-o', 'ConnectTimeout=60', '-o', 'IPQoS=none'],
  ];
  const copy = async (from: string, to: string) => {
    const { status, stderr } = await ended(
      spawn('scp', [...options, '-q', '-P', String(port), from, to]),
      {},
    );
    if (status !== 0) throw new Error(`scp ${from} ${to}: ${stderr}`);
  };
  const ssh = (argv: string[]) => spawn('ssh', [...options, '-p', String(port), ...argv]);
  return {
    run: (command, limits = {}) => ended(ssh(['root@127.0.0.1', command]), limits),
    copyIn: (from, to) => copy(from, `root@127.0.0.1:${to}`),
    copyOut: (from, to) => copy(`root@127.0.0.1:${from}`, to),
    async disconnect() {
      await ended(ssh(['-O', 'exit', 'root@127.0.0.1']), {});
    },
  };
}

/** The program that keeps the connection holds the error stream open; so its end does not count, but the exit. */
function ended(
  child: ChildProcess,
  { input, timeoutMs = COMMAND_TIMEOUT_MS }: { input?: Buffer | string; timeoutMs?: number },
): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  child.stdin?.on('error', () => {}).end(input ?? '');
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(
        new Error(
          `${child.spawnargs.at(-1)}: no end after ${timeoutMs} ms\n${output.stdout}${output.stderr}`,
        ),
      );
    }, timeoutMs);
    child.once('error', reject);
    const outputEnded = new Promise<void>((done) => child.stdout?.once('close', done));
    child.once('exit', (code) => {
      clearTimeout(timer);
      void outputEnded.then(() => resolve({ status: code ?? 255, ...output }));
    });
  });
}
