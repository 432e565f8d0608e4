/** Packs a folder of this machine as the context of a build: a tar stream, without what its ignore file names. */
import { constants } from 'node:fs';
import { lstat, open, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoredBy, ignoreFilesOf } from '../../../model/dockerignore.ts';
import { type TarEntry, tarEnd, tarHeader, tarPadding } from '../../../model/tar.ts';
import { usageError } from '../flags.ts';

/** @param dockerfile Its path in the folder: it is packed in any case, as the ignore file is. */
export async function* packed(folder: string, dockerfile: string): AsyncGenerator<Buffer> {
  const ignore = await ignoreOf(folder, dockerfile);
  for await (const path of pathsOf(folder, '', ignore)) {
    const place = join(folder, path);
    const stat = await lstat(place);
    const common = { path, mode: stat.mode & 0o7777, uid: 0, gid: 0, mtime: Math.floor(stat.mtimeMs / 1000) };
    if (stat.isDirectory()) yield tarHeader({ ...common, type: 'folder', size: 0, target: '' });
    else if (stat.isSymbolicLink())
      yield tarHeader({ ...common, type: 'link', size: 0, target: await readlink(place) });
    else if (stat.isFile()) yield* fileOf(place, { ...common, type: 'file', size: stat.size, target: '' });
  }
  yield tarEnd();
}

interface Ignore {
  isIgnored: (path: string) => boolean;
  /** false: nothing below an ignored folder is wanted. */
  hasExceptions: boolean;
  always: ReadonlySet<string>;
}

async function ignoreOf(folder: string, dockerfile: string): Promise<Ignore> {
  for (const name of ignoreFilesOf(dockerfile)) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => null);
    if (text === null) continue;
    const always = new Set([dockerfile, name]);
    return { isIgnored: ignoredBy(text), hasExceptions: /^\s*!/m.test(text), always };
  }
  return { isIgnored: () => false, hasExceptions: false, always: new Set() };
}

async function* pathsOf(folder: string, below: string, ignore: Ignore): AsyncGenerator<string> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const leadsToOne = [...ignore.always].some((always) => always === path || always.startsWith(`${path}/`));
    const isIgnored = !leadsToOne && ignore.isIgnored(path);
    if (!isIgnored) yield path;
    if (entry.isDirectory() && (!isIgnored || ignore.hasExceptions)) yield* pathsOf(folder, path, ignore);
  }
}

/** Its size is promised before its bytes. */
async function* fileOf(place: string, entry: TarEntry): AsyncGenerator<Buffer> {
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (error: NodeJS.ErrnoException) => {
      throw usageError(
        `'${place}' cannot be read: ${error.code}.`,
        'Name it in .dockerignore, or check its permissions.',
      );
    },
  );
  try {
    yield tarHeader(entry);
    let left = entry.size;
    const end = entry.size - 1;
    if (left > 0)
      for await (const piece of file.createReadStream({
        autoClose: false,
        start: 0,
        end,
      }) as AsyncIterable<Buffer>) {
        left -= piece.length;
        yield piece;
      }
    if (left > 0)
      throw usageError(
        `'${place}' became shorter while it was sent.`,
        'Build again once no program writes to it.',
      );
    yield tarPadding(entry.size);
  } finally {
    await file.close();
  }
}
