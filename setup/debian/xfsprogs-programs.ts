/** Names the xfsprogs that tests of the disk store run, and the folder of the cache that holds them. */
import { arch } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

/** Debian 12's run on Debian 13 too. Raise the number to fetch newer ones. */
export const XFSPROGS = { revision: 1, suite: 'bookworm', packages: ['xfsprogs', 'libinih1', 'liburcu8'] };

/** Those that the service calls. */
export const XFS_PROGRAMS = ['mkfs.xfs', 'xfs_growfs'];

export const xfsprogsStore = join(defaultCacheDir(), 'xfsprogs');

/** `bin` with the programs, `lib` with their libraries. */
export const xfsprogsFolder = join(xfsprogsStore, `debian-${XFSPROGS.revision}-${arch()}`);

/** Environment of a service that finds them, before those of the machine. */
export const withXfsprogs = { PATH: `${join(xfsprogsFolder, 'bin')}:${process.env['PATH'] ?? ''}` };
