/** The procedures of files and folders. */
import { posix } from 'node:path';
import { z } from 'zod';
import { asUser } from '../../../catalog/parameters/sandbox.ts';
import { path } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { audited, type DaytonaCall as Call } from '../../daytona/base/call.ts';
import { wholeId } from '../base/address.ts';
import { userIn } from '../base/credentials.ts';
import { isMissing } from '../base/errors.ts';
import type { Message } from './connect.ts';

type Plain = (call: InsideCall, message: Message) => Promise<Message>;

export const filesystem: Record<string, Plain> = {
  Stat: async (call, { path }) => ({ entry: await stat(call, textOf(path)) }),
  ListDir: async (call, { path, depth }) => ({
    entries: await listDir(call, textOf(path), Math.max(1, Number(depth ?? 1))),
  }),
  MakeDir: makeDir,
  Move: move,
  Remove: remove,
};

const FOLDER_MODE = 0o755;

async function makeDir(call: InsideCall, message: Message): Promise<Message> {
  const path = absolute(call, textOf(message['path']));
  const found = await stat(call, path).catch((error: unknown) =>
    isMissing(error) ? null : Promise.reject(error),
  );
  if (found) {
    const isFolder = found['type'] === 'FILE_TYPE_DIRECTORY';
    const [code, what] = isFolder ? ['already_exists', 'directory'] : ['invalid_argument', 'file'];
    throw new SandhavenError(code as 'already_exists', `A ${what} is there already: ${path}`);
  }
  const folder = { path, user: call.user, mode: FOLDER_MODE, privileged: true as const };
  await audited(call, { action: 'Sandbox.CreateFolder', scope: 'sandboxes:write' }, () =>
    call.services.files.createFolder(call.request.caller, call.sandbox, folder),
  );
  return { entry: await stat(call, path) };
}

/** Moves, and replaces a file at the destination, as there. */
async function move(call: InsideCall, message: Message): Promise<Message> {
  const { sandbox } = call;
  const source = absolute(call, textOf(message['source']));
  const destination = absolute(call, textOf(message['destination']));
  const moved = () => call.tool('Sandbox.MoveFile', { sandbox, source, destination, user: ROOT });
  await moved().catch(async (error: unknown) => {
    if (!(error instanceof SandhavenError) || error.code !== 'already_exists') throw error;
    await call.tool('Sandbox.DeleteFile', { sandbox, path: destination, user: ROOT });
    await moved();
  });
  return { entry: await stat(call, destination) };
}

/** Removes, and takes an absent path for removed. */
async function remove(call: InsideCall, message: Message): Promise<Message> {
  const path = absolute(call, textOf(message['path']));
  try {
    await call.tool('Sandbox.DeleteFile', { sandbox: call.sandbox, path, user: ROOT, recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

// Files and folders as E2B's clients read them.

/** Of one file or folder, by GetFileDetails. */
interface Details {
  path: string;
  type: 'file' | 'dir' | 'symlink' | 'other';
  size: number;
  mode: string;
  owner: string;
  group: string;
  modified_time: string;
  target?: string;
  metadata: Record<string, string>;
}

const types = { file: 'FILE_TYPE_FILE', dir: 'FILE_TYPE_DIRECTORY' } as Record<string, string>;
const marks = { file: '-', dir: 'd', symlink: 'L' } as Record<string, string>;
/** Links that are followed one after another. */
const MOST_LINKS = 16;

/** Clients reach every file, as whichever user: that one owns what they make. */
export const ROOT = 'root';

/** Beginning of the names of what clients call metadata, among all attributes of the user. */
export const METADATA_SPACE = 'e2b.';

/** A call about one sandbox, as a user of it. */
export interface InsideCall extends Call {
  sandbox: string;
  /** Absent for the sandbox's own. */
  user: string | undefined;
}

const named = z.object({ user: asUser });
const placed = z.object({ path: path() });

export function insideOf(call: Call): InsideCall {
  const { headers, query } = call.request;
  const { username } = query as Record<string, string | undefined>;
  const sandbox = wholeId(String(headers['e2b-sandbox-id'] ?? ''));
  const { user } = validateInput(named, {
    user: userIn(call.request) ?? (username === '' ? undefined : username),
  });
  return Object.assign(call, { sandbox, user });
}

/** Clients read absolute paths; what begins nowhere begins at the user's home. */
export function absolute({ user }: Pick<InsideCall, 'user'>, given: string): string {
  const { path } = validateInput(placed, { path: given === '' ? '.' : given });
  const home = user === 'root' ? '/root' : `/home/${user ?? 'user'}`;
  if (path === '~' || path.startsWith('~/')) return posix.join(home, path.slice(1));
  return posix.resolve(home, path);
}

/** Describes the path, behind its links. Rejects with `not_found`. */
export async function stat(call: InsideCall, path: string): Promise<Message> {
  const at = absolute(call, path);
  const found = await detailsOf(call, at);
  return entryOf(at, found, found.type === 'symlink' ? await behind(call, at, found) : found);
}

/** Describes what is below a folder, sorted by path. */
export async function listDir(call: InsideCall, path: string, depth: number): Promise<Message[]> {
  const at = await folderAt(call, absolute(call, path));
  const entries: Message[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page = await call.action('GetFileDetails', {
      ...{ sandbox: call.sandbox, path: at, user: ROOT, depth, offset, max_items: 1_000 },
    });
    for (const found of page['entries'] as Details[])
      entries.push(entryOf(posix.join(at, found.path), found, found));
    offset = (page['next_offset'] as number | null | undefined) ?? null;
  }
  return entries;
}

/** Returns where the folder is, behind its links. */
async function folderAt(call: InsideCall, path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const { type, target } = await detailsOf(call, at);
    if (type === 'dir') return at;
    if (type !== 'symlink') throw invalidArgument('path', `path is not a directory: ${path}`);
    at = posix.resolve(posix.dirname(at), target ?? '.');
  }
  throw invalidArgument('path', `There are too many links at ${path}.`);
}

async function behind(call: InsideCall, path: string, link: Details): Promise<Details> {
  let [at, found] = [path, link];
  for (let links = 0; found.type === 'symlink' && links < MOST_LINKS; links++) {
    at = posix.resolve(posix.dirname(at), found.target ?? '.');
    found = await detailsOf(call, at).catch(() => ({ ...found, type: 'other' as const }));
  }
  return found;
}

async function detailsOf(call: InsideCall, path: string): Promise<Details> {
  const about = { sandbox: call.sandbox, path, user: ROOT, depth: 0 };
  const { entries } = await call.action('GetFileDetails', about);
  return (entries as Details[])[0] as Details;
}

function entryOf(path: string, found: Details, target: Details): Message {
  const mode = Number.parseInt(found.mode, 8);
  return {
    ...{ name: posix.basename(path), path, size: String(target.size), mode: mode & 0o777 },
    type: types[target.type] ?? 'FILE_TYPE_UNSPECIFIED',
    permissions: (marks[found.type] ?? '?') + letters(mode),
    ...{ owner: found.owner, group: found.group },
    modifiedTime: found.modified_time,
    ...(found.type === 'symlink'
      ? { symlinkTarget: posix.resolve(posix.dirname(path), found.target ?? '') }
      : {}),
    metadata: metadataOf(found),
  };
}

function metadataOf({ metadata }: Details): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata)
      .filter(([name]) => name.startsWith(METADATA_SPACE))
      .map(([name, value]) => [name.slice(METADATA_SPACE.length), value]),
  );
}

function letters(mode: number): string {
  return [6, 3, 0]
    .map((shift) => [...'rwx'].map((letter, at) => ((mode >> shift) & (4 >> at) ? letter : '-')).join(''))
    .join('');
}
