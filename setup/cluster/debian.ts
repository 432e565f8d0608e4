/**
 * Unpacks Debian's etcd, containerd, CNI plugins and busybox into a root of their own.
 *
 * Invariant: the folder named by the revision is complete, since it is renamed into place last.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../command.ts';
import { downloadPackages, unpackPackages } from '../debian/packages.ts';
import { clusterStore, DEBIAN, debianFolder } from './folders.ts';

const PROGRAMS = ['usr/bin/etcd', 'usr/bin/containerd', 'usr/lib/cni/ptp', 'usr/bin/busybox'];

export async function unpackDebian(): Promise<void> {
  if (existsSync(debianFolder)) return;
  console.log('cluster: fetching etcd, containerd and the CNI plugins from Debian');
  const work = await mkdtemp(join(clusterStore, '.work-'));
  const root = join(work, 'root');
  try {
    await mkdir(root);
    for (const [suite, names] of Object.entries(DEBIAN.suites)) {
      const folder = join(work, suite);
      await mkdir(folder);
      await unpackPackages(await downloadPackages(folder, suite, names), root);
    }
    const missing = PROGRAMS.filter((path) => !existsSync(join(root, path)));
    if (missing.length > 0) throw new Error(`Debian’s packages lack ${missing.join(', ')}`);
    await command('sync', ['--file-system', root]);
    await rename(root, debianFolder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
