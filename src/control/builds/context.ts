/** The context of a build: the files that its caller sent, indexed as they come, and read again when a step copies them. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { ignoredBy, ignoreFilesOf } from '../../model/dockerignore.ts';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { hasGlob, matchesPath, namesOf } from '../../model/globs.ts';
import { limits } from '../../model/limits.ts';
import { readTar, type TarEntry, tarEnd, tarHeader, tarPadding } from '../../model/tar.ts';
import type { OpenSpool, Spool } from '../ports/index.ts';

export interface ContextFile extends Omit<TarEntry, 'uid' | 'gid' | 'type'> {
  type: 'file' | 'folder' | 'link';
  /** Of its content, in the spool. */
  at: number;
  /** SHA-256 of its content; empty without one. */
  digest: string;
}

/** A name that a source gives, and the file that it leads to. */
export interface Found {
  name: string;
  file: ContextFile;
}

export class Context {
  readonly #spool: Spool;
  /** By path, as `src/main.ts`. */
  readonly #files: Map<string, ContextFile>;
  #paths: string[];
  #matchedMs = 0;

  private constructor(spool: Spool, files: Map<string, ContextFile>) {
    this.#spool = spool;
    this.#files = files;
    this.#paths = [...files.keys()].sort();
  }

  /** Reads a whole tar stream. Rejects with `too_large` past the bounds, `invalid_argument` for what no context has. */
  static async receive(open: OpenSpool, stream: AsyncIterable<Uint8Array>): Promise<Context> {
    const spool = await open();
    try {
      return new Context(spool, await filesOf(stream, spool));
    } catch (error) {
      await spool.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#spool.close();
  }

  /** Returns the text of a file; null where there is none. */
  async text(path: string, mostBytes: number): Promise<string | null> {
    const file = this.#resolve(namesOf(path).join('/'));
    if (file?.type !== 'file') return null;
    if (file.size > mostBytes)
      throw tooLarge(`'${path}' has ${file.size} bytes; at most ${mostBytes} are taken.`);
    return (await this.#whole(file)).toString();
  }

  /** Leaves out what the ignore file of the Dockerfile names, for all that follows. */
  async ignore(dockerfile: string): Promise<void> {
    for (const name of ignoreFilesOf(dockerfile)) {
      const text = await this.text(name, limits.build.dockerfileBytes);
      if (text === null) continue;
      const isIgnored = ignoredBy(text);
      const kept: string[] = [];
      for await (const path of this.#inSlices()) if (!isIgnored(path)) kept.push(path);
      // A folder that is ignored is there all the same for a file in it that is not.
      this.#paths = [...new Set(kept.flatMap((path) => [...foldersAbove(path), path]))].sort();
      const all = new Set(this.#paths);
      for (const path of this.#files.keys()) if (!all.has(path)) this.#files.delete(path);
      return;
    }
  }

  /** Returns what a source of COPY means: a file or folder, or all that match its glob, in order. Links are followed. */
  async find(source: string): Promise<Found[]> {
    const names = namesOf(source);
    const paths: string[] = [];
    if (!hasGlob(source)) paths.push(names.join('/'));
    else if (source.length > limits.build.patternChars)
      throw invalidArgument('file', `A pattern has more than ${limits.build.patternChars} characters.`);
    else for await (const path of this.#inSlices()) if (matchesPath(names, path.split('/'))) paths.push(path);
    return paths.flatMap((path) => {
      const file = this.#resolve(path);
      return file ? [{ name: path.split('/').at(-1) ?? '', file }] : [];
    });
  }

  /** Returns all that is below a folder, in order; of the empty path all there is. */
  below(folder: string): ContextFile[] {
    const prefix = folder === '' ? '' : `${folder}/`;
    return this.#paths.flatMap((path) => {
      const file = path.startsWith(prefix) && path !== folder ? this.#files.get(path) : undefined;
      return file ? [file] : [];
    });
  }

  content({ at, size }: Pick<ContextFile, 'at' | 'size'>): AsyncIterable<Buffer> {
    return this.#spool.read(at, size);
  }

  /** Yields all paths, for work that takes long with hostile ones: others of the event loop come in between. */
  async *#inSlices(): AsyncGenerator<string> {
    const { matchMs, matchSliceMs } = limits.build;
    let since = performance.now();
    for (const path of this.#paths) {
      yield path;
      const took = performance.now() - since;
      if (took < matchSliceMs) continue;
      this.#matchedMs += took;
      if (this.#matchedMs > matchMs)
        throw tooLarge('The patterns of ignore file and Dockerfile take too long to match.');
      await nextTurn();
      since = performance.now();
    }
  }

  async #whole(file: ContextFile): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.content(file)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Follows links within the context. */
  #resolve(path: string): ContextFile | null {
    let current = path;
    for (let links = 0; links < 40; links++) {
      if (current === '') return rootFolder;
      const file = this.#files.get(current);
      if (!file) return null;
      if (file.type !== 'link') return file;
      const base = file.target.startsWith('/') ? '' : current.split('/').slice(0, -1).join('/');
      current = namesOf(`${base}/${file.target}`).join('/');
    }
    return null;
  }
}

const nothing = { mtime: 0, size: 0, target: '', at: 0, digest: '' };
const rootFolder: ContextFile = { path: '', type: 'folder', mode: 0o755, ...nothing };

async function filesOf(stream: AsyncIterable<Uint8Array>, spool: Spool): Promise<Map<string, ContextFile>> {
  const files = new Map<string, ContextFile>();
  const { contextBytes, contextEntries, depth } = limits.build;
  let end = 0;
  for await (const { entry, content } of readTar(stream, 2 * contextBytes)) {
    const path = pathOf(entry.path);
    if (path === '') continue;
    if (files.size >= contextEntries || path.split('/').length > depth)
      throw tooLarge(`The context has more than ${contextEntries} files, or folders deeper than ${depth}.`);
    for (const folder of foldersAbove(path))
      if (files.get(folder)?.type !== 'folder') files.set(folder, { ...rootFolder, path: folder });
    const at = end;
    const hash = createHash('sha256');
    if (end + entry.size > contextBytes) throw tooLarge(`The context has more than ${contextBytes} bytes.`);
    for await (const piece of content) {
      hash.update(piece);
      await spool.write(piece);
      end += piece.length;
    }
    files.set(
      path,
      fileOf(entry, path, { at, digest: entry.type === 'file' ? hash.digest('hex') : '' }, files),
    );
  }
  return files;
}

function fileOf(
  entry: TarEntry,
  path: string,
  place: Pick<ContextFile, 'at' | 'digest'>,
  files: ReadonlyMap<string, ContextFile>,
): ContextFile {
  const { type, mode, mtime, size, target } = entry;
  if (type !== 'hardlink') return { path, type, mode, mtime, size, target, ...place };
  const linked = files.get(pathOf(target));
  if (linked?.type !== 'file')
    throw invalidArgument('body', `'${path}' is a hard link to no file before it.`, 'Pack the context anew.');
  return { ...linked, path };
}

function pathOf(path: string): string {
  if (path.split('/').includes('..'))
    throw invalidArgument(
      'body',
      `The context has the path '${path}', which leads out of it.`,
      'Pack it from inside its folder.',
    );
  return namesOf(path).join('/');
}

export function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'));
}

function tooLarge(detail: string): SandhavenError {
  return new SandhavenError('too_large', detail, {
    hint: 'Name what the build does not need in a .dockerignore.',
  });
}

// Archives that came before their build, joined to its context.

/** An archive that came, until its reader closes it. */
export interface OpenedArchive {
  bytes: AsyncIterable<Buffer>;
  close(): void;
}

/**
 * Throws `invalid_argument` for an archive that is not here.
 * @param open Returns null for one.
 * @param folderOf Returns where the files of an archive are in the context; empty for its root.
 */
export async function* joined(
  names: Iterable<string>,
  open: (name: string) => OpenedArchive | null,
  folderOf: (name: string) => string = () => '',
): AsyncGenerator<Buffer> {
  for (const name of new Set(names)) {
    const opened = open(name);
    if (!opened) {
      const hint = 'Build again: they are kept for an hour, and sent anew after it.';
      throw invalidArgument('files', `The files '${name.slice(0, 80)}' were not sent.`, hint);
    }
    try {
      yield* below(folderOf(name), await unpacked(opened.bytes));
    } finally {
      opened.close();
    }
  }
  yield tarEnd();
}

async function* below(folder: string, archive: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const inside = (path: string) => (folder === '' ? path : `${folder}/${path}`);
  const most = 2 * limits.build.contextBytes;
  try {
    for await (const { entry, content } of readTar(archive, most)) {
      const target = entry.type === 'hardlink' ? inside(entry.target) : entry.target;
      yield tarHeader({ ...entry, path: inside(entry.path), target });
      for await (const piece of content) yield piece;
      yield tarPadding(entry.size);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code?.startsWith('Z_')
      ? invalidArgument('files', 'An archive is no gzip that can be read.')
      : error;
  }
}

/** Clients of some kinds send gzip unless they are told not to. */
async function unpacked(bytes: AsyncIterable<Buffer>): Promise<AsyncIterable<Uint8Array>> {
  const pieces = bytes[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done) return bytes;
  async function* whole(): AsyncGenerator<Buffer> {
    yield first.value;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return whole();
  // An error of the archive comes out at its end.
  return pipeline(whole(), createGunzip(), () => {});
}
