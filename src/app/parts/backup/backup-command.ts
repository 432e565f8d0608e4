/** `sandhaven backup`: takes the backup from the running service, or makes it in its place, and writes it down. */

import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, KEY_FILES } from '../../../backup/entry.ts';
import { once, writeFolder } from '../../../backup/folder.ts';
import { entriesOfTar, tarOf } from '../../../backup/tar.ts';
import { createLog } from '../../../log.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { createExit } from '../../../outbound/exit.ts';
import {
  type DataDirectory,
  isLocked,
  lockDataDirectory,
  openExistingDataDirectory,
} from '../../../store/data-directory.ts';
import { readIfThere } from '../../../store/files/durable-file.ts';
import { openSecrets } from '../../../store/files/secrets.ts';
import { openSqliteStore } from '../../../store/sqlite/store.ts';
import { flagIsSet, flagValue, parseKnownFlags, usageError } from '../../../surfaces/cli/flags.ts';
import type { CliIo, Command } from '../../../surfaces/cli/io.ts';
import { openEngine } from '../../engine/engine.ts';
import { parseUpOptions } from '../../options/up-options.ts';
import { requestBackup } from './backup-socket.ts';
import { writeToBucket } from './bucket.ts';
import { makeBackup } from './make-backup.ts';
import { refuseOnCluster } from './on-cluster.ts';
import { createProgress } from './progress.ts';

const help = `Usage: sandhaven backup DIR|- [--with-keys] [--json] [--data-dir …]
       sandhaven backup --s3 s3://bucket/prefix [--with-keys] [--json] [--data-dir …]

Backs up a service on this machine: its rows (users, keys, sandboxes, the audit log), the disks of all sandboxes and the
archives that lie on this host, with their images. The service may run; a running sandbox stands still while its disk is
copied, 30 s at most. Ephemeral sandboxes, the warm pool and the configuration are not in it, nor are archives in S3.

  DIR           a new or empty folder; it is whole once it has manifest.json
  -             one tar stream on standard output
  --s3          one object below the prefix, with the settings and credentials of the environment
                (SANDHAVEN_S3_ENDPOINT and the others of \`up\`)
  --with-keys   also secret.key and api-key: whoever reads the backup can then read every secret in it. Without them a
                restore needs the old secret.key, so keep a copy of that file elsewhere
  --json        the result as JSON, and no progress

Exit status 1: the backup is whole, but has nothing of the sandboxes that are named.
`;

const specs = {
  s3: { type: 'string' },
  'with-keys': { type: 'boolean' },
  json: { type: 'boolean' },
  'data-dir': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const backupCommand: Pick<Command, 'run'> = {
  async run(argv, io) {
    const flags = parseKnownFlags(argv, specs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const bucket = flagValue(flags, 's3');
    const [target, ...more] = [...flags.positionals, ...(bucket === undefined ? [] : [bucket])];
    if (target === undefined || more.length > 0)
      throw usageError('One target is expected.', 'Write: sandhaven backup DIR, or sandhaven backup -');
    const { dataDir, kubernetes } = parseUpOptions([], io.env);
    if (kubernetes !== null) throw refuseOnCluster();
    const data = openExistingDataDirectory(flagValue(flags, 'data-dir') ?? dataDir);
    const keys = flagIsSet(flags, 'with-keys') ? keysOf(data) : [];
    const progress = createProgress(io, { isQuiet: flagIsSet(flags, 'json') });
    const entries = progress.watch(whole(keys, data, io.signal));
    if (bucket !== undefined) {
      const url = await writeToBucket(bucket, entries, { ...data, env: io.env, signal: io.signal });
      return progress.report({ words: `Finished in ${url}`, out: io.stdout });
    }
    if (target === '-') await toStdout(entries, io);
    else await writeFolder(target, entries, () => {});
    return progress.report({ words: 'Finished', out: target === '-' ? io.stderr : io.stdout });
  },
};

async function* whole(
  keys: { name: string; bytes: Buffer }[],
  data: DataDirectory,
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  for (const { name, bytes } of keys) yield { name, sizeBytes: bytes.length, content: once(bytes) };
  if (isLocked(data.path)) yield* entriesOfTar(await requestBackup(data.instance, signal));
  else yield* madeHere(data, signal);
}

/** The service's work without the service: its machines may run, so they are frozen as it would. */
async function* madeHere(data: DataDirectory, signal: AbortSignal): AsyncGenerator<Entry> {
  const lock = lockDataDirectory(data.path);
  try {
    if (!existsSync(data.databaseFile) && !existsSync(data.storeAddressFile)) {
      throw new SandhavenError('failed_precondition', `${data.path} has no rows yet.`, {
        hint: 'Nothing is to be backed up.',
      });
    }
    const log = createLog();
    const secrets = openSecrets({ keyFile: data.secretKeyFile });
    // Makes sure of the secret key, and brings the file to the newest schema.
    if (existsSync(data.databaseFile))
      await (await openSqliteStore({ file: data.databaseFile, secrets })).close();
    const engine = await openEngine({ data, secrets, exit: createExit(), clock: Date, log });
    try {
      await engine.init();
      yield* makeBackup({ data, secrets, ...engine, log }, signal);
    } finally {
      await engine.runtime.close();
    }
  } finally {
    lock.release();
  }
}

function keysOf(data: DataDirectory): { name: string; bytes: Buffer }[] {
  const files = { 'secret.key': data.secretKeyFile, 'api-key': data.apiKeyFile };
  const found = KEY_FILES.map((name) => ({ name, bytes: readIfThere(files[name]) }));
  const keys = found.filter(
    (key): key is { name: (typeof KEY_FILES)[number]; bytes: Buffer } => key.bytes !== null,
  );
  if (keys.some(({ name }) => name === 'secret.key')) return keys;
  throw new SandhavenError('failed_precondition', 'The secret key is not in the data directory.', {
    hint: 'It is a credential of systemd: leave --with-keys out, and keep a copy of the credential.',
  });
}

/** Unlike other output, a backup that nobody reads to its end has failed. */
async function toStdout(entries: AsyncIterable<Entry>, { stdout }: CliIo): Promise<void> {
  if (stdout.isTTY)
    throw usageError(
      'A backup is not for a terminal.',
      'Write it to a file: sandhaven backup - > backup.tar',
    );
  stdout.removeAllListeners('error');
  await pipeline(Readable.from(tarOf(entries), { objectMode: false }), stdout, { end: false });
}
