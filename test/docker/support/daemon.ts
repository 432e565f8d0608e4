/**
 * A Docker of one test, from Debian's package. Its network, its mounts and its processes are in namespaces of their own, so
 * it touches neither the firewall of this host nor another Docker, and all of it ends with one process.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { arch, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, vi } from 'vitest';
import { version } from '../../../src/home.ts';
import type { DockerHost, Outcome } from './container.ts';

const home = join(import.meta.dirname, '../../..');
const processor = arch() === 'arm64' ? 'arm64' : 'amd64';
/** Of `make docker-image`. */
const archive = join(home, `dist/sandhaven-standalone_${version}_${processor}.tar`);
const DAEMON = '/usr/sbin/dockerd';
const SOON = { timeout: 120_000, interval: 500 };
/** CAP_SYS_RESOURCE. */
const SYS_RESOURCE = 1n << 24n;

/** Docker asks for every right of a privileged container; a test machine may have one fewer to give. */
const boundedRunc = `#!/bin/sh
previous=
for word in "$@"; do
  case "$previous" in
    --bundle | -b) sed -i 's/"CAP_SYS_RESOURCE",\\{0,1\\}//g' "$word/config.json" ;;
    --process | -p) sed -i 's/"CAP_SYS_RESOURCE",\\{0,1\\}//g' "$word" ;;
  esac
  previous=$word
done
exec runc "$@"
`;

/** Loads the image. */
export async function startDocker(): Promise<DockerHost> {
  for (const file of [archive, DAEMON]) {
    if (!existsSync(file)) throw new Error(`${file} is missing; run make test-deep PART=packages`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-docker-'));
  const daemon = startDaemon(folder);
  const close = async () => {
    daemon.kill('SIGKILL');
    await ended(daemon);
    await removeGroups(`/${basename(folder)}`);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const inside = await firstProcess(daemon);
    const run = (command: string): Promise<Outcome> =>
      shell(['nsenter', '--target', inside, '--net', '--', 'sh', '-c', command], {
        DOCKER_HOST: `unix://${join(folder, 'socket')}`,
      });
    await vi.waitFor(async () => expect((await run('docker version')).status).toBe(0), SOON);
    const loaded = await run(`docker load --quiet --input ${archive}`);
    if (loaded.status !== 0) throw new Error(loaded.output);
    return { run, close };
  } catch (error) {
    const log = existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
    await close();
    throw new Error(`Docker does not start: ${log.slice(-2_000)}`, { cause: error });
  }
}

function startDaemon(folder: string): ChildProcess {
  for (const name of ['etc', 'data', 'run']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'runc'), boundedRunc);
  chmodSync(join(folder, 'runc'), 0o755);
  const given = /^CapBnd:\s+(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const lacks = (BigInt(`0x${given}`) & SYS_RESOURCE) === 0n;
  const options = [
    ...[`--data-root=${folder}/data`, `--exec-root=${folder}/run`, `--pidfile=${folder}/pid`],
    ...[`--host=unix://${folder}/socket`, `--cgroup-parent=/${basename(folder)}`],
    ...(lacks ? [`--add-runtime=bounded=${folder}/runc`, '--default-runtime=bounded'] : []),
  ];
  // Docker keeps a key of its own in /etc, and plugins in /run.
  const script = `mount --bind ${folder}/etc /etc/docker 2>/dev/null; ip link set lo up
exec ${DAEMON} ${options.join(' ')} >${folder}/log 2>&1`;
  const apart = ['--net', '--mount', '--propagation', 'private', '--pid', '--mount-proc'];
  // A test run that is killed takes the daemon along.
  return spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'unshare', ...apart, '--fork', '--kill-child', 'sh', '-c', script],
    { stdio: 'ignore' },
  );
}

/** Returns the number, on this host, of the process that is the first in the namespaces. */
async function firstProcess({ pid }: ChildProcess): Promise<string> {
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  await vi.waitFor(() => expect(children()).toMatch(/^\d+$/), SOON);
  return children();
}

async function removeGroups(name: string): Promise<void> {
  const find = `find /sys/fs/cgroup -depth -type d -path '*${name}*'`;
  await vi.waitFor(async () => {
    await shell(['sh', '-c', `${find} -exec rmdir {} + 2>/dev/null`]);
    expect((await shell(['sh', '-c', find])).output).toBe('');
  }, SOON);
}

function shell([file = '', ...argv]: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 << 20 };
    execFile(file, argv, options, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}
