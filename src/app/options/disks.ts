/** Options of the disks: where they lie, and what becomes of archives. */
import type { DiskStoreOptions } from '../../model/disk-store.ts';
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { flag, parseCount, yesOrNo } from './flag.ts';

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

export const archiveFlags = {
  /** Place of new archives: this host, or a bucket. */
  archiveStore: flag({
    name: 'archive-store',
    default: 'local',
    help: 'where archives of sandboxes go: local, or s3://bucket/prefix',
    parse: (text) => text,
  }),
  /** Encryption of new archives. */
  archiveEncryption: flag({
    name: 'archive-encryption',
    default: 'no',
    help: 'yes: new archives are encrypted with a key that is derived from secret.key',
    parse: yesOrNo,
  }),
  /** Server that speaks the S3 protocol. */
  s3Endpoint: flag({
    name: 's3-endpoint',
    default: '',
    help: "URL of the S3 server, when it is not Amazon's",
    parse: (text) => text,
  }),
  /** Region of the bucket, a part of every signature. */
  s3Region: flag({
    name: 's3-region',
    default: '',
    help: 'region of the bucket; AWS_REGION, else us-east-1',
    parse: (text) => text,
  }),
  /** Form of the URLs of a bucket. */
  s3PathStyle: flag({
    name: 's3-path-style',
    default: '',
    help: 'yes: the bucket is in the path of URLs; no: in their host name; yes with --s3-endpoint',
    parse(text, { flag }): boolean | null {
      if (text === '') return null;
      if (text === 'yes' || text === 'no') return text === 'yes';
      throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
    },
  }),
  /** File with the credentials for S3, which are never a flag themselves. */
  s3CredentialsFile: flag({
    name: 's3-credentials-file',
    default: '',
    help: 'file with the credentials, in place of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    parse: (text) => text,
  }),
};
