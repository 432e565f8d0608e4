/** Folders of sandboxes lie apart on a disk with ext4; elsewhere nothing changes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { spread } from '../../../src/runtime/oci/disk/disks.ts';
import { createHelpers } from '../../../src/runtime/oci/host/helper.ts';
import { launcherPath } from '../host.ts';

const helpers = createHelpers(launcherPath, () => []);

function newFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'sandhaven-spread-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Block group of the folder's inode: 1,024 inodes each in this file system. */
function groupOf(folder: string): number {
  return Math.floor((Number(execFileSync('stat', ['-c', '%i', folder], { encoding: 'utf8' })) - 1) / 1_024);
}

it('new folders on ext4 get a group of inodes each', async () => {
  const folder = newFolder();
  const image = join(folder, 'disk.img');
  execFileSync('mke2fs', [
    '-q',
    '-F',
    '-t',
    'ext4',
    '-b',
    '1024',
    '-g',
    '8192',
    '-N',
    '65536',
    image,
    '512M',
  ]);
  const mount = join(folder, 'mount');
  mkdirSync(mount);
  execFileSync('mount', ['-o', 'loop', image, mount]);
  onTestFinished(() => void execFileSync('umount', [mount]));
  const made = (parent: string) =>
    Array.from({ length: 20 }, (_, index) => {
      const path = join(mount, parent, `sb_${index}`);
      mkdirSync(path, { recursive: true });
      return groupOf(path);
    });
  const together = new Set(made('plain'));
  mkdirSync(join(mount, 'spread'));
  await spread(join(mount, 'spread'), helpers);
  expect(together.size).toBe(1);
  expect(new Set(made('spread')).size).toBeGreaterThan(5);
});

it('a file system without groups is left as it is', async () => {
  const folder = newFolder('/dev/shm');
  await expect(spread(folder, helpers)).resolves.toBeUndefined();
});
