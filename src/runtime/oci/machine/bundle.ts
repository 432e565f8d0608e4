/** Bundles: the files that runc and the launcher read for one generation of a machine, written before it runs. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../host/files.ts';
import { bundleGeneration, type Layout } from '../host/layout.ts';
import type { Slot } from '../host/plan.ts';
import { buildConfig, ETC_FILES, type MachineConfig } from './config.ts';
import type { MachineRuntime } from './machine-runtime.ts';

export async function writeBundle(
  bundle: string,
  machine: MachineConfig & { slot: Slot },
  runtime: MachineRuntime,
): Promise<void> {
  await mkdir(join(bundle, 'etc'), { recursive: true, mode: 0o700 });
  const etc = etcFiles(machine.id, machine.slot);
  const forRunc =
    runtime.kind === 'runc'
      ? [writeFile(join(bundle, 'config.json'), JSON.stringify(buildConfig(machine)))]
      : [];
  await Promise.all([
    ...forRunc,
    ...ETC_FILES.map((name) => writeFile(join(bundle, 'etc', name), etc[name], { mode: 0o644 })),
  ]);
}

/** Generations that have a bundle, ascending. */
export async function bundleGenerations(layout: Layout, id: string): Promise<number[]> {
  const names = (await unlessMissing(readdir(layout.sandbox(id)))) ?? [];
  return names
    .map(bundleGeneration)
    .filter((generation) => generation !== null)
    .sort((a, b) => a - b);
}

/** Keeps the bundle of the newest generation, so that a late start of an older one is recognized. */
export async function removeOldBundles(layout: Layout, id: string): Promise<void> {
  for (const generation of (await bundleGenerations(layout, id)).slice(0, -1)) {
    await rm(layout.bundle(id, generation), { recursive: true, force: true });
  }
}

function etcFiles(id: string, slot: Slot): Record<(typeof ETC_FILES)[number], string> {
  return {
    hosts: `127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n${slot.address}\t${id}\n`,
    hostname: `${id}\n`,
    'resolv.conf': `nameserver ${slot.gateway}\n`,
  };
}
