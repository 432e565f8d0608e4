/** Copies of COPY and ADD: what they select, where it goes, and the tar stream that brings it into the sandbox of a stage. */
import { posix } from 'node:path';
import { type TarEntry, tarEnd, tarHeader, tarPadding } from '../../model/tar.ts';
import type { Context, ContextFile, Found } from './context.ts';
import type { Copying } from './interpret.ts';
import type { StageMachine } from './machine.ts';
import { atLine } from './words.ts';

export interface Owner {
  uid: number;
  gid: number;
}

/** One file on its way into the folder of the target. */
export interface Item {
  entry: TarEntry;
  content: AsyncIterable<Buffer>;
}

/** Files of the context, or of the Dockerfile itself, with their paths below the target. */
export interface Selected {
  path: string;
  file: Pick<ContextFile, 'type' | 'mode' | 'mtime' | 'size' | 'target' | 'digest'>;
  content: () => AsyncIterable<Buffer>;
  /** A source names it; others are in a folder that one names. */
  isNamed: boolean;
}

/** Selects what the sources mean. Rejects with `not_found` for one that names nothing. */
export async function selectedOf(
  context: Context,
  { sources, inline }: Copying,
  line: number,
): Promise<Selected[]> {
  const selected: Selected[] = [];
  for (const source of sources) {
    const found = await context.find(source);
    if (found.length === 0)
      throw atLine(
        line,
        `'${source}' is not in the context.`,
        'Its path is relative to the context; .dockerignore may leave it out.',
      );
    for (const one of found) selected.push(...below(context, one));
  }
  return [...selected, ...inline.map(({ name, content }) => inlineFile(name, content))];
}

/** Of a folder its content, of a file itself. */
function below(context: Context, { name, file }: Found): Selected[] {
  const content = (one: ContextFile) => () => context.content(one);
  if (file.type !== 'folder') return [{ path: name, file, content: content(file), isNamed: true }];
  const prefix = file.path === '' ? 0 : file.path.length + 1;
  return context
    .below(file.path)
    .map((one) => ({ path: one.path.slice(prefix), file: one, content: content(one), isNamed: false }));
}

function inlineFile(path: string, text: string): Selected {
  const bytes = Buffer.from(text);
  const file = { type: 'file', mode: 0o644, mtime: 0, size: bytes.length, target: '', digest: text } as const;
  const content = async function* () {
    yield bytes;
  };
  return { path, file, content, isNamed: true };
}

export async function* itemsOf(selected: readonly Selected[]): AsyncGenerator<Item> {
  for (const { path, file, content } of selected) {
    const { type, mode, mtime, size, target } = file;
    yield { entry: { path, type, mode, mtime, size, target, uid: 0, gid: 0 }, content: content() };
  }
}

/** Brings items into the target. Its folders are made where they are missing, and belong to the owner. */
export async function bring(
  machine: StageMachine,
  items: AsyncIterable<Item>,
  { target, chmod }: Pick<Copying, 'target' | 'chmod'>,
  { owner, isSingleFile, line }: { owner: Owner | null; isSingleFile: boolean; line: number },
): Promise<void> {
  const renamed = isSingleFile && !target.endsWith('/') && !(await isFolderInside(machine, target, line));
  const folder = renamed ? posix.dirname(target) : target;
  const named = (entry: TarEntry): TarEntry => ({
    ...entry,
    ...(owner ?? {}),
    ...(chmod === null ? {} : { mode: chmod }),
    ...(renamed ? { path: posix.basename(target) } : {}),
  });
  const { uid, gid } = owner ?? { uid: 0, gid: 0 };
  const made = 'd=$1; [ -d "$d" ] || { mkdir -p -- "$d" && chown "$2" "$d"; } && exec tar -xpf - -C "$d"';
  const argv = ['sh', '-c', made, 'sh', folder, `${uid}:${gid}`];
  await machine.text({ argv, input: tarOf(items, named) }, line);
}

/** Unpacks an archive into a folder; the programs of the image do it. */
export async function unpack(
  machine: StageMachine,
  { content, file }: Selected,
  format: string,
  target: string,
  line: number,
): Promise<void> {
  const script = 'mkdir -p -- "$1" && exec tar -x$2f - -C "$1"';
  const bytes = file.size > 0 ? content() : undefined;
  await machine.text(
    { argv: ['sh', '-c', script, 'sh', target, format], ...(bytes ? { input: bytes } : {}) },
    line,
  );
}

/** Returns the letter of tar for an archive's compression, none for a plain tar; null for what is no archive. */
export async function archiveFormat({ file, content }: Selected): Promise<string | null> {
  if (file.type !== 'file') return null;
  let head = Buffer.alloc(0);
  for await (const piece of content()) {
    head = Buffer.concat([head, piece]);
    if (head.length >= 512) break;
  }
  if (head.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) return 'z';
  if (head.subarray(0, 3).toString('latin1') === 'BZh') return 'j';
  if (head.subarray(0, 6).equals(Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]))) return 'J';
  return head.subarray(257, 262).toString('latin1') === 'ustar' ? '' : null;
}

/** Finds the numbers of `user:group` by the files of the stage. */
export async function ownerOf(machine: StageMachine, chown: string, line: number): Promise<Owner> {
  const [user = '', group = ''] = chown.split(':');
  const script = `
    case $1 in *[!0-9]*) u=$(id -u "$1") && d=$(id -g "$1") || exit 3 ;; *) u=$1; d=$1 ;; esac
    case $2 in '') g=$d ;; *[!0-9]*) g=$(sed -n "s/^$2:[^:]*:\\([0-9]*\\):.*/\\1/p" /etc/group) ;; *) g=$2 ;; esac
    [ -n "$g" ] || exit 3; echo "$u $g"`;
  const failed = () =>
    atLine(
      line,
      `--chown=${chown} names a user or group that the stage has not.`,
      'Make it before, in a RUN, or give numbers.',
    );
  const text = await machine.text({ argv: ['sh', '-c', script, 'sh', user, group] }, line, failed);
  const [uid, gid] = text.trim().split(' ').map(Number);
  if (!Number.isInteger(uid) || !Number.isInteger(gid)) throw failed();
  return { uid: Number(uid), gid: Number(gid) };
}

async function isFolderInside(machine: StageMachine, path: string, line: number): Promise<boolean> {
  return (
    (await machine.text({ argv: ['sh', '-c', 'if [ -d "$1" ]; then echo d; fi', 'sh', path] }, line)) !== ''
  );
}

async function* tarOf(
  items: AsyncIterable<Item>,
  named: (entry: TarEntry) => TarEntry,
): AsyncGenerator<Buffer> {
  for await (const { entry, content } of items) {
    yield tarHeader(named(entry));
    if (entry.type !== 'file') continue;
    yield* content;
    yield tarPadding(entry.size);
  }
  yield tarEnd();
}
