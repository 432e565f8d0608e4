/** Changes in a folder, as a stream to a client. */
import { posix } from 'node:path';
import type { FileChange } from '../../../control/ports/index.ts';
import { auditActions } from '../../../model/audit.ts';
import { keepAliveIn, type Message, messageOf } from './connect.ts';
import { absolute, type InsideCall, ROOT, stat } from './entries.ts';
import type { StreamCall } from './streams.ts';

export interface WatchEvent {
  /** Below the watched folder. */
  name: string;
  type: string;
}

/** Watches until the client leaves, or the folder is gone. */
export async function watchDir({ call, stream, visit }: StreamCall): Promise<null> {
  const message = await messageOf(call.request.raw);
  await watchFolder(call, message, visit, {
    begun() {
      void stream.send({ start: {} });
      stream.keepAlive(keepAliveIn(call.request), { keepalive: {} });
    },
    async happened(event) {
      await stream.send({ filesystem: await described(call, message, event) });
    },
  });
  return null;
}

interface Watcher {
  begun(): void;
  /** Resolves when there is room for more; undefined: at once. */
  happened(event: WatchEvent): Promise<void> | undefined;
}

/** Watches the folder that the message names, during a visit. */
export async function watchFolder(
  call: InsideCall,
  message: Message,
  visit: StreamCall['visit'],
  watcher: Watcher,
): Promise<void> {
  const path = folderOf(call, message);
  const request = { path, recursive: message['recursive'] === true, user: ROOT };
  await visit([auditActions.filesWatch, auditActions.filesLeave, 'sandboxes:read'], async (begun, signal) => {
    await call.services.files.watch(
      call.request.caller,
      call.sandbox,
      request,
      {
        begun() {
          begun();
          watcher.begun();
        },
        async changed(changes) {
          for (const event of changes.flatMap((change) => shown(path, absolute(call, '.'), change)))
            await watcher.happened(event);
        },
      },
      signal,
    );
  });
}

/** Adds what is at the path of the event, where the client wants that and it still is. */
export async function described(call: InsideCall, message: Message, event: WatchEvent): Promise<Message> {
  if (message['includeEntry'] !== true) return { ...event };
  const entry = await stat(call, posix.join(folderOf(call, message), event.name)).catch(() => null);
  return entry ? { ...event, entry } : { ...event };
}

function folderOf(call: InsideCall, { path }: Message): string {
  return absolute(call, typeof path === 'string' ? path : '');
}

const events = { created: 'CREATE', written: 'WRITE', removed: 'REMOVE', attributes: 'CHMOD' } as const;

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
