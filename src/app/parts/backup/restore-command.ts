/** `sandhaven restore`: makes a data directory of a backup. */
import { stat } from 'node:fs/promises';
import type { Entry } from '../../../backup/entry.ts';
import { entriesOfFolder } from '../../../backup/folder.ts';
import { entriesOfTar } from '../../../backup/tar.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { flagIsSet, flagValue, parseKnownFlags, usageError } from '../../../surfaces/cli/flags.ts';
import type { CliIo, Command } from '../../../surfaces/cli/io.ts';
import { parseUpOptions } from '../../options/up-options.ts';
import { entriesOfBucket } from './bucket.ts';
import { refuseOnCluster } from './on-cluster.ts';
import { createProgress } from './progress.ts';
import { newestSchema, restoreBackup } from './restore-backup.ts';

const help = `Usage: sandhaven restore DIR|- [--key-file FILE] [--json] [--data-dir …] [--disk-store xfs]
       sandhaven restore --s3 s3://bucket/prefix/backup-….tar [--key-file FILE] [--json] [--data-dir …]

Makes a new data directory of a backup. Every file is verified first; then one rename puts the directory in place. The
service gets an instance id of its own, and sandboxes that ran are stopped.

  DIR           a folder that \`sandhaven backup\` has finished
  -             its tar stream on standard input
  --s3          the object that \`sandhaven backup --s3\` printed
  --key-file    secret.key of the old data directory, for a backup without keys
  --json        the result as JSON, and no progress
  --disk-store, --disk-store-gb
                as of \`up\`: xfs puts the disks into a volume

Restore only backups that you made: one with keys in it can hold any users, and any disks.
`;

const specs = {
  s3: { type: 'string' },
  'key-file': { type: 'string' },
  json: { type: 'boolean' },
  'data-dir': { type: 'string' },
  'disk-store': { type: 'string' },
  'disk-store-gb': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const restoreCommand: Pick<Command, 'run'> = {
  async run(argv, io) {
    const flags = parseKnownFlags(argv, specs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const bucket = flagValue(flags, 's3');
    const [from, ...more] = [...flags.positionals, ...(bucket === undefined ? [] : [bucket])];
    if (from === undefined || more.length > 0)
      throw usageError('One backup is expected.', 'Write: sandhaven restore DIR, or sandhaven restore -');
    const chosen = (['disk-store', 'disk-store-gb'] as const).flatMap((name) => {
      const value = flagValue(flags, name);
      return value === undefined ? [] : [`--${name}`, value];
    });
    const { dataDir, diskStore, kubernetes } = parseUpOptions(chosen, io.env);
    if (kubernetes !== null) throw refuseOnCluster();
    const progress = createProgress(io, { isQuiet: flagIsSet(flags, 'json') });
    const target = flagValue(flags, 'data-dir') ?? dataDir;
    const entries = bucket === undefined ? await entriesFrom(from, io) : entriesOfBucket(bucket, io);
    await restoreBackup(progress.watch(entries), {
      dataDir: target,
      keyFile: flagValue(flags, 'key-file') ?? null,
      diskStore,
      now: Date.now(),
      signal: io.signal,
    });
    return progress.report({ words: `Restored to ${target}`, out: io.stdout });
  },
};

async function entriesFrom(from: string, { stdin }: CliIo): Promise<AsyncIterable<Entry>> {
  if (from === '-') return entriesOfTar(stdin);
  const found = await stat(from).catch(() => null);
  if (found?.isDirectory()) return entriesOfFolder(from, newestSchema);
  throw new SandhavenError('failed_precondition', `${from} is not a folder.`, {
    hint: `A tar stream comes on standard input: sandhaven restore - < ${from}`,
  });
}
