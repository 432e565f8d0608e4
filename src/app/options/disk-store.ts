/** Flags of the store of disks: the data directory's own file system, or a volume in it. */
import type { DiskStoreOptions } from '../../model/disk-store.ts';
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { flag, parseCount } from './flag.ts';

const { min, max } = limits.disk.volumeGb;

export const diskStoreFlags = {
  /** File system that disks lie in. */
  diskStore: flag({
    name: 'disk-store',
    default: 'auto',
    help: 'xfs: disks lie in a volume in --data-dir, where copies take no time; auto: in it where there is one',
    parse(text, { flag }): DiskStoreOptions['kind'] {
      if (text === 'auto' || text === 'xfs') return text;
      throw invalidArgument(
        flag,
        `The disk store '${text}' is not known.`,
        `Use ${flag} xfs or ${flag} auto.`,
      );
    },
  }),
  /** Size of that volume. */
  diskStoreGb: flag({
    name: 'disk-store-gb',
    default: 'auto',
    help: 'GB that the volume may take; a larger number grows it; auto: the size of the disk below it, or as it is',
    parse(text, { flag }): number | null {
      if (text === 'auto') return null;
      const gb = parseCount(flag, text, max);
      if (gb >= min) return gb;
      throw invalidArgument(flag, `${flag} must be at least ${min}, and ${text} was given.`);
    },
  }),
};
