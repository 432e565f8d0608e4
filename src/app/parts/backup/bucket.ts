/** Backups in a bucket: the tar stream as one object, over the places of archives. */
import type { Entry } from '../../../backup/entry.ts';
import { entriesOfTar, tarOf } from '../../../backup/tar.ts';
import { createLog } from '../../../log.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { ArchivePlace } from '../../../runtime/archives/places.ts';
import { usageError } from '../../../surfaces/cli/flags.ts';
import { openRemoteArchives } from '../../engine/optional-parts.ts';
import { parseUpOptions } from '../../options/up-options.ts';

type Env = Record<string, string | undefined>;

/** Puts the backup below this URL, all or nothing. Returns the URL of the object. */
export async function writeToBucket(
  url: string,
  entries: AsyncIterable<Entry>,
  { instance, env, signal }: { instance: string; env: Env; signal: AbortSignal },
): Promise<string> {
  const { place, bucket, path } = await open(url, env);
  const name = `backup-${instance}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.tar`;
  const key = [path, name].filter(Boolean).join('/');
  try {
    await place.put('', { store: 's3', bucket, key }, tarOf(entries), { signal });
    return `s3://${bucket}/${key}`;
  } finally {
    place.close();
  }
}

export async function* entriesOfBucket(
  url: string,
  { env, signal }: { env: Env; signal: AbortSignal },
): AsyncGenerator<Entry> {
  const { place, bucket, path } = await open(url, env);
  try {
    const stored = path === '' ? null : await place.get('', { store: 's3', bucket, key: path }, { signal });
    if (stored === null) {
      throw new SandhavenError('not_found', `There is no backup at ${url}.`, {
        hint: 'Name the object that `sandhaven backup --s3` printed, such as s3://bucket/prefix/backup-….tar',
      });
    }
    yield* entriesOfTar(stored.bytes);
  } finally {
    place.close();
  }
}

async function open(url: string, env: Env): Promise<{ place: ArchivePlace; bucket: string; path: string }> {
  const { folder, s3 } = parseUpOptions(['--archive-store', url], env).archives;
  if (folder === null) throw usageError('--s3 needs a bucket.', 'Write --s3 s3://bucket/prefix');
  const remote = await openRemoteArchives({ s3, folder: null }, 'backup', createLog());
  if (remote === null) throw new Error('a bucket has no server');
  return { place: remote.place, bucket: folder.bucket, path: folder.prefix };
}
