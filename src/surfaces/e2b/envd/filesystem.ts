/** The procedures of files and folders. */
import { posix } from 'node:path';
import type { FileChange } from '../../../control/ports/index.ts';
import { auditActions } from '../../../model/audit.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { audited } from '../../daytona/base/call.ts';
import { isMissing, NotHere } from '../base/errors.ts';
import { type Message, messageOf } from './connect.ts';
import { absolute, type InsideCall, listDir, ROOT, stat } from './entries.ts';
import type { StreamCall } from './streams.ts';

type Plain = (call: InsideCall, message: Message) => Promise<Message>;

export const filesystem: Record<string, Plain> = {
  Stat: async (call, { path }) => ({ entry: await stat(call, textOf(path)) }),
  ListDir: async (call, { path, depth }) => ({
    entries: await listDir(call, textOf(path), Math.max(1, Number(depth ?? 1))),
  }),
  MakeDir: makeDir,
  Move: move,
  Remove: remove,
  CreateWatcher: noWatcher,
  GetWatcherEvents: noWatcher,
  RemoveWatcher: noWatcher,
};

/** A surface keeps nothing between calls, and these need what came since the last. */
async function noWatcher(): Promise<never> {
  throw new NotHere('A watch is a stream here: there is none that is asked again and again.');
}

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

const events = { created: 'CREATE', written: 'WRITE', removed: 'REMOVE', attributes: 'CHMOD' } as const;

/** Watches until the client leaves, or the folder is gone. */
export async function watchDir({ call, stream, visit }: StreamCall): Promise<null> {
  const message = await messageOf(call.request.raw);
  const path = absolute(call, textOf(message['path']));
  const request = { path, recursive: message['recursive'] === true, user: ROOT };
  const withEntry = message['includeEntry'] === true;
  await visit([auditActions.filesWatch, auditActions.filesLeave, 'sandboxes:read'], async (begun, signal) => {
    await call.services.files.watch(
      call.request.caller,
      call.sandbox,
      request,
      {
        begun() {
          begun();
          void stream.send({ start: {} });
          stream.keepAlive(keepAliveSeconds(call), { keepalive: {} });
        },
        async changed(changes) {
          for (const event of changes.flatMap((change) => shown(path, absolute(call, '.'), change)))
            await stream.send({ filesystem: withEntry ? await entered(call, path, event) : event });
        },
      },
      signal,
    );
  });
  return null;
}

/** Adds what is at the path of the event, if it still is. */
async function entered(call: InsideCall, folder: string, event: WatchEvent): Promise<Message> {
  const entry = await stat(call, posix.join(folder, event.name)).catch(() => null);
  return entry ? { ...event, entry } : { ...event };
}

function keepAliveSeconds({ request }: InsideCall): number {
  return Number(request.headers['keepalive-ping-interval'] ?? 0);
}

interface WatchEvent {
  /** Below the watched folder. */
  name: string;
  type: string;
}

/** Name of a file that takes the place of another once it is written: the client saw only a write of that one. */
const TEMPORARY = /(?:^|\/)\.sandhaven-[0-9a-f]{16}\.tmp$/;

/**
 * Paths are relative to the user's home, and names of events to the watched folder.
 * A file that comes may have its content by then, which tells of no write. A rename is one of the old name, and a creation of the new one.
 */
export function shown(folder: string, home: string, change: FileChange): WatchEvent[] {
  if (change.type === 'overflow' || TEMPORARY.test(change.path)) return [];
  const name = (path: string) => posix.relative(folder, posix.resolve(home, path));
  const event = (type: string, path: string) => ({ name: name(path), type: `EVENT_TYPE_${type}` });
  if (change.type === 'renamed' && TEMPORARY.test(change.from)) return [event('WRITE', change.path)];
  if (change.type === 'renamed') return [event('RENAME', change.from), event('CREATE', change.path)];
  if (change.type === 'created' && !change.folder)
    return [event('CREATE', change.path), event('WRITE', change.path)];
  return [event(events[change.type], change.path)];
}
