/**
 * Disks of a node: ext4 images, each mounted in the node's room, with a link by which the kubelet finds the mount.
 *
 * Invariant: a link leads to a mounted disk of its full size. So a Pod can start on no other: without the link, the
 * kubelet tries again until it is there.
 *
 * Programs run beside the test: one that writes to the disk may wait for all that others have written, for seconds, in which
 * the test has connections to serve.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Node } from '../node.ts';

/** Of the links, in the node's room. */
export const DISKS = '/var/lib/volumes';

const MOUNTS = '/var/lib/mounted';

/** Exit status of e2fsck that has repaired something. */
const REPAIRED = 1;

const run = promisify(execFile);

/** Does nothing when it was made already. */
export async function makeDisk(node: Node, name: string, bytes: number): Promise<void> {
  if (existsSync(linkOf(node, name))) return;
  const image = imageOf(node, name);
  mkdirSync(join(node.folder, 'disks'), { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, bytes);
  await run('mkfs.ext4', ['-q', '-m', '0', image]);
  await show(node, name);
}

export async function removeDisk(node: Node, name: string): Promise<void> {
  await hide(node, name);
  await rm(imageOf(node, name), { force: true });
}

/** Returns false while Pods use it, where the kernel grows no mounted disk: that takes CAP_SYS_RESOURCE. */
export async function growDisk(node: Node, name: string, bytes: number): Promise<boolean> {
  const image = imageOf(node, name);
  if (statSync(image).size < bytes) truncateSync(image, bytes);
  if (existsSync(linkOf(node, name))) {
    if (growsMounted(node, image)) return true;
    await hide(node, name);
  }
  if (deviceOf(image) !== '') return false;
  await show(node, name);
  return true;
}

/** After a start of the node, before the kubelet's: a link may lead to a disk that is not mounted yet. */
export function mountDisks(node: Node): void {
  for (const name of names(node)) {
    const image = imageOf(node, name);
    const { status } = spawnSync('e2fsck', ['-f', '-p', image], { stdio: 'pipe' });
    if (status !== 0 && status !== REPAIRED) throw new Error(`the disk ${name} cannot be repaired`);
    execFileSync('resize2fs', [image], { stdio: 'pipe' });
    node.room.run(['mount', '-o', 'loop', image, `${MOUNTS}/${name}`]);
  }
}

/** False while a room that has been ended still has one of them mounted. */
export function areUnmounted(node: Node): boolean {
  return names(node).every((name) => deviceOf(imageOf(node, name)) === '');
}

function growsMounted({ room }: Node, image: string): boolean {
  const device = deviceOf(image);
  try {
    execFileSync('losetup', ['--set-capacity', device], { stdio: 'pipe' });
    room.run(['resize2fs', device]);
    return true;
  } catch {
    return false;
  }
}

/** Mounts a disk that nobody uses; its file system fills the image then. */
async function show(node: Node, name: string): Promise<void> {
  const image = imageOf(node, name);
  await check(image);
  await run('resize2fs', [image]);
  for (const folder of [join(node.folder, 'lib/mounted', name), join(node.folder, 'lib/volumes')]) {
    mkdirSync(folder, { recursive: true });
  }
  await node.room.finish(['mount', '-o', 'loop', image, `${MOUNTS}/${name}`]);
  if (!existsSync(linkOf(node, name))) symlinkSync(`../mounted/${name}`, linkOf(node, name));
}

/** Pods that have it mounted keep it. */
async function hide(node: Node, name: string): Promise<void> {
  if (!existsSync(linkOf(node, name))) return;
  rmSync(linkOf(node, name));
  await node.room.finish(['umount', `${MOUNTS}/${name}`]);
}

/** Repairs what a crash left. */
async function check(image: string): Promise<void> {
  try {
    await run('e2fsck', ['-f', '-p', image]);
  } catch (error) {
    if ((error as { code?: number }).code !== REPAIRED) throw error;
  }
}

/** The loop device of an image that is mounted anywhere, also in a Pod alone; empty when it is not. */
function deviceOf(image: string): string {
  const args = ['--associated', image, '--noheadings', '--output', 'NAME'];
  return execFileSync('losetup', args, { encoding: 'utf8' }).trim();
}

function names({ folder }: Node): string[] {
  const disks = join(folder, 'disks');
  return existsSync(disks) ? readdirSync(disks) : [];
}

function imageOf({ folder }: Node, name: string): string {
  return join(folder, 'disks', name);
}

/** It leads to the folder below the mount where the host looks, which exists as long. */
function linkOf({ folder }: Node, name: string): string {
  return join(folder, 'lib/volumes', name);
}
