/**
 * Disks of a node: ext4 images, each mounted in the node's room, with a link by which the kubelet finds the mount.
 *
 * Invariant: a link leads to a mounted disk of its full size. So a Pod can start on no other: without the link, the
 * kubelet tries again until it is there.
 */
import { execFileSync } from 'node:child_process';
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
import { join } from 'node:path';
import type { Node } from '../node.ts';

/** Of the links, in the node's room. */
export const DISKS = '/var/lib/volumes';

const MOUNTS = '/var/lib/mounted';

/** Does nothing when it was made already. */
export function makeDisk(node: Node, name: string, bytes: number): void {
  if (existsSync(linkOf(node, name))) return;
  const image = imageOf(node, name);
  mkdirSync(join(node.folder, 'disks'), { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, bytes);
  execFileSync('mkfs.ext4', ['-q', '-m', '0', image], { stdio: 'pipe' });
  show(node, name);
}

export async function removeDisk(node: Node, name: string): Promise<void> {
  await hide(node, name);
  rmSync(imageOf(node, name), { force: true });
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
  show(node, name);
  return true;
}

/** After a start of the node, before the kubelet's. */
export function mountDisks(node: Node): void {
  for (const name of names(node)) show(node, name);
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
function show(node: Node, name: string): void {
  const image = imageOf(node, name);
  check(image);
  execFileSync('resize2fs', [image], { stdio: 'pipe' });
  for (const folder of [join(node.folder, 'lib/mounted', name), join(node.folder, 'lib/volumes')]) {
    mkdirSync(folder, { recursive: true });
  }
  node.room.run(['mount', '-o', 'loop', image, `${MOUNTS}/${name}`]);
  if (!existsSync(linkOf(node, name))) symlinkSync(`../mounted/${name}`, linkOf(node, name));
}

/**
 * Pods that have it mounted keep it. All that was written to it goes to the image first: that may take seconds, in which the
 * test serves its connections.
 */
async function hide(node: Node, name: string): Promise<void> {
  if (!existsSync(linkOf(node, name))) return;
  rmSync(linkOf(node, name));
  await node.room.finish(['umount', `${MOUNTS}/${name}`]);
}

/** Repairs what a crash left. */
function check(image: string): void {
  try {
    execFileSync('e2fsck', ['-f', '-p', image], { stdio: 'pipe' });
  } catch (error) {
    // One says that it repaired something.
    if ((error as { status?: number }).status !== 1) throw error;
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
