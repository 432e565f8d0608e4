/** Describes the machine and the software of the measurement. */
import { readFile, realpath } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { cgroupVersion } from './cgroups.ts';
import { run } from './command.ts';
import type { Docker } from './docker.ts';

export interface BaseImage {
  digest: string;
  rootfs: string;
  env: Record<string, string>;
  workingDir: string;
}

export const home = new URL('..', import.meta.url).pathname;

/** Image that sandboxes are made from. */
export async function baseImage(): Promise<BaseImage> {
  const current = await realpath(join(defaultCacheDir(), 'base/current')).catch(() => {
    throw new Error('The base image is not on this machine: run `make image` first.');
  });
  const record = JSON.parse(await readFile(join(current, 'image.json'), 'utf8'));
  const { digest, env, workingDir } = record;
  return { digest, env, workingDir: workingDir || '/', rootfs: join(current, 'rootfs') };
}

export async function machineFacts(docker: Docker, image: BaseImage) {
  const [engine, info] = await Promise.all([docker.api.version(), docker.api.info()]);
  return {
    date: new Date().toISOString(),
    commit: await git('rev-parse', 'HEAD'),
    changed_files: (await git('status', '--porcelain')).split('\n').filter(Boolean).length,
    kernel: release(),
    distribution: /^PRETTY_NAME="(.+)"$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1] ?? 'unknown',
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memory_bytes: totalmem(),
    load_average: loadavg(),
    cgroup_version: cgroupVersion(),
    node: process.version,
    image_digest: image.digest,
    runc: await firstLine(join(defaultCacheDir(), 'runc/current/runc'), '--version'),
    docker: {
      engine: String(engine['Version']),
      command_line: await docker.cli('--version'),
      storage_driver: String(info['Driver']),
      components: engine['Components'],
    },
  };
}

export type MachineFacts = Awaited<ReturnType<typeof machineFacts>>;

function git(...args: string[]): Promise<string> {
  return run('git', ['-C', home, ...args]).catch(() => '');
}

async function firstLine(program: string, ...args: string[]): Promise<string> {
  return (await run(program, args).catch(() => 'unknown')).split('\n')[0] ?? 'unknown';
}
