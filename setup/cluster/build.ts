/**
 * Provides the programs of the test cluster in the cache: Kubernetes by the Go module proxy, the rest by Debian. Does
 * nothing when they are there. Run through setup/locked.sh.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { step } from '../command.ts';
import { unpackDebian } from './debian.ts';
import { clusterStore, debianFolder, kubernetesFolder } from './folders.ts';
import { buildKubernetes } from './kubernetes.ts';

/** Kept beside the current folders: Go's caches of a killed build, and the compiler. */
const kept = new Set([basename(kubernetesFolder), basename(debianFolder), '.build', 'go']);

await step('cluster', async () => {
  await mkdir(clusterStore, { recursive: true, mode: 0o700 });
  for (const name of await readdir(clusterStore)) {
    if (!kept.has(name)) await rm(join(clusterStore, name), { recursive: true });
  }
  await unpackDebian();
  await buildKubernetes();
});
