/**
 * Runs a Docker engine of our own, independent of any other on the host. It lives in its own network, mount and
 * process namespaces: the kernel removes its bridge, firewall rules, forwarding switch, mounts and containers when
 * its first process ends, and nothing of the host is changed. Only its cgroups and its folder are removed by hand.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeCgroups } from './cgroups.ts';
import { run } from './command.ts';
import { DockerApi } from './docker-api.ts';
import { installDocker } from './docker-install.ts';
import type { BaseImage } from './machine.ts';
import { residentBytes } from './memory.ts';

export const IMAGE = 'base';
/** Keeps a container alive without any work. */
export const IDLE = ['sleep', 'infinity'];

export interface Docker extends AsyncDisposable {
  api: DockerApi;
  /** Parent of all containers' cgroups, in every hierarchy. */
  cgroup: string;
  /** Runs the docker command line, as a user would. Resolves with its output. */
  cli(...args: string[]): Promise<string>;
  /** Memory of dockerd and containerd; the shims count with their containers. */
  serviceBytes(): Promise<number>;
}

const START_TIMEOUT_MS = 30_000;

/** `/run` is hidden so that no other engine's containerd is found there. */
const PREPARE = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"';

export async function startDocker(folder: string, image: BaseImage): Promise<Docker> {
  await installDocker();
  await mkdir(folder, { recursive: true });
  const cgroup = `sandhaven-bench-${process.pid}`;
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => removeCgroups(cgroup));
  const engine = launch(folder, cgroup, await writeConfig(folder));
  cleanup.defer(() => end(engine));
  const env = { ...process.env, DOCKER_HOST: `unix://${folder}/sock`, DOCKER_CONFIG: folder };
  const api = new DockerApi(join(folder, 'sock'));
  await ready(api, engine);
  await importImage(env, image);
  const owned = cleanup.move();
  return {
    api,
    cgroup,
    cli: (...args) => run('docker', args, { env }),
    serviceBytes: () => residentBytes(engine.process.pid ?? 0, ['dockerd', 'containerd']),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Engine {
  process: ChildProcess;
  log(): string;
}

async function writeConfig(folder: string): Promise<string> {
  const file = join(folder, 'daemon.json');
  await writeFile(file, '{}');
  return file;
}

/** Dies with this process, even after a SIGKILL. */
function launch(folder: string, cgroup: string, config: string): Engine {
  const dockerd = [
    'dockerd',
    ...['--config-file', config, '--log-level', 'warn'],
    ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')],
    ...['--pidfile', join(folder, 'pid'), '--host', `unix://${folder}/sock`],
    ...['--cgroup-parent', `/${cgroup}`, '--exec-opt', 'native.cgroupdriver=cgroupfs'],
  ];
  const namespaces = ['--net', '--mount', '--propagation', 'private', '--pid', '--fork', '--mount-proc'];
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--kill-child'],
      ...['sh', '-c', PREPARE, 'sh', 'docker-init', '--', ...dockerd],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  let log = '';
  const keep = (chunk: Buffer) => {
    log = (log + chunk).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.on('error', (error) => keep(Buffer.from(String(error))));
  return { process: child, log: () => log };
}

async function ready(api: DockerApi, engine: Engine): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline && engine.process.exitCode === null) {
    if (await api.ping().catch(() => false)) return;
    await sleep(100);
  }
  throw new Error(`dockerd did not become ready:\n${engine.log()}`);
}

/** Gives containers the same files and the same environment as a sandbox of the base image. */
async function importImage(env: NodeJS.ProcessEnv, image: BaseImage): Promise<void> {
  const changes = Object.entries(image.env).map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`);
  const flags = [...changes, `WORKDIR ${image.workingDir}`].flatMap((change) => ['--change', change]);
  const script = 'rootfs=$1; shift; tar --numeric-owner -C "$rootfs" -c . | docker import "$@"';
  await run('sh', ['-c', script, 'sh', image.rootfs, ...flags, '-', IMAGE], { env });
}

/** The death of the namespace's first process makes the kernel kill all the others. */
async function end({ process: child }: Engine): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}
