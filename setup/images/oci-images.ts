/**
 * Makes the OCI images for a cluster: the service, the agent, and the base image of sandboxes, each as a layout in a
 * folder. Needs root, and what `make build image` made.
 */
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NATIVE } from '../../src/app/engine/installed.ts';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { readImageRecord } from '../../src/runtime/images/registry/record.ts';
import { lastCommit } from './commit.ts';
import { isMadeOf, type WrittenImage, writeLayout } from './layout.ts';
import { serviceSettings, writeService, writeSystem } from './service-root.ts';

/** Names of the layouts, and of the repositories that they are pushed to. */
export type OciImageName = 'sandhaven' | 'sandhaven-agent' | 'sandhaven-base';

/** Path of the agent in its image, which Pods mount as a volume. */
export const AGENT = 'sandhaven-agent';

const home = join(import.meta.dirname, '../..');

const makers: Record<OciImageName, (folder: string) => Promise<WrittenImage | null>> = {
  sandhaven: makeService,
  'sandhaven-agent': makeAgent,
  'sandhaven-base': makeBase,
};

/**
 * Writes `<name>.oci` into `target`.
 * @returns null when the layout there is of the same contents already
 */
export function makeOciImage(name: OciImageName, target: string): Promise<WrittenImage | null> {
  return makers[name](join(target, `${name}.oci`));
}

export async function versionOf(): Promise<string> {
  return JSON.parse(await readFile(join(home, 'package.json'), 'utf8')).version;
}

async function makeService(folder: string): Promise<WrittenImage> {
  const paths = [
    ...['src', 'package.json', 'package-lock.json', 'setup/images', 'setup/release', 'LICENSE'],
    ...['packages', 'sdk', 'sdk-python'],
  ];
  const { epoch, revision } = await lastCommit(home, paths);
  return inTemporary(async (work) => {
    const [system, service] = [join(work, 'system'), join(work, 'service')];
    await mkdir(system);
    await mkdir(service);
    await writeSystem(home, system);
    await writeService(home, service);
    const about = await labels('Sandhaven', 'Sandboxes and data access for language-model agents', revision);
    return writeLayout(folder, {
      layers: [system, service],
      settings: { ...serviceSettings(), Labels: about },
      ...{ epoch, source: revision, tag: await versionOf() },
    });
  });
}

async function makeAgent(folder: string): Promise<WrittenImage> {
  const { epoch, revision } = await lastCommit(home, ['native']);
  const built = join(NATIVE, 'sandhaven-agent');
  return inTemporary(async (work) => {
    await copyFile(built, join(work, AGENT));
    await chmod(join(work, AGENT), 0o755);
    const about = await labels('Sandhaven agent', 'The first process of each sandbox', revision);
    return writeLayout(folder, {
      layers: [work],
      settings: { Entrypoint: [`/${AGENT}`], Labels: about },
      ...{ epoch, source: revision, tag: await versionOf() },
    });
  });
}

/** Files keep their times: Python compares them with those in its compiled files. */
async function makeBase(folder: string): Promise<WrittenImage | null> {
  const cached = join(defaultCacheDir(), 'base/current');
  const record = await readImageRecord(cached);
  if (!record) throw new Error('there is no base image; run make image');
  const tag = await versionOf();
  if (await isMadeOf(folder, record.digest, tag)) return null;
  const { env, entrypoint, cmd, workingDir, user } = record;
  return writeLayout(folder, {
    layers: [join(cached, 'rootfs')],
    settings: {
      ...(user === '' ? {} : { User: user }),
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...(entrypoint.length > 0 ? { Entrypoint: entrypoint } : {}),
      ...(cmd.length > 0 ? { Cmd: cmd } : {}),
      WorkingDir: workingDir,
      Labels: await labels('Sandhaven base image', 'The standard image of sandboxes', ''),
    },
    ...{ epoch: Math.floor(record.madeAt / 1000), ownTimes: true, source: record.digest, tag },
  });
}

async function labels(title: string, description: string, revision: string): Promise<Record<string, string>> {
  const all = { title, description, licenses: 'Apache-2.0', version: await versionOf(), revision };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
  );
}

async function inTemporary<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-image-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
