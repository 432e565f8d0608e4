/** Changes in a folder, as a stream to a client. */
import { posix } from 'node:path';
import type { FileChange } from '../../../control/ports/index.ts';
import { auditActions } from '../../../model/audit.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { randomText } from '../../../model/ids.ts';
import { assertScope } from '../../../model/scopes.ts';
import { keepAliveIn, type Message, messageOf } from './connect.ts';
import { absolute, type InsideCall, ROOT, stat } from './filesystem.ts';
import { type StreamCall, type StreamParts, visitOf } from './streams.ts';

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

// Watches that clients ask for their changes again and again. Each is kept here from one question to the next, by its replica alone, and
// ends some minutes after the last one.

const ID_CHARS = 16;
/** Of changes that wait for a question. With these the agent waits, and what it has no room for is lost. */
const MOST_BYTES = 64 * 1_024;
/** Of one beside its name. */
const EVENT_BYTES = 128;
const IDLE_MS = 10 * 60 * 1_000;

interface Kept {
  call: InsideCall;
  /** As it was asked for. */
  message: Message;
  events: WatchEvent[];
  bytes: number;
  /** Resolved by the next question; null where there is room. */
  room: PromiseWithResolvers<void> | null;
  idle: NodeJS.Timeout;
  stop: AbortController;
  /** Gives the owner's share back, which is held as long as this is kept, also after its folder is gone. */
  leave(): void;
}

export class Watchers {
  readonly #parts: Pick<StreamParts, 'shares' | 'stopping'>;
  readonly #kept = new Map<string, Kept>();

  readonly procedures = {
    CreateWatcher: (call: InsideCall, message: Message) => this.#create(call, message),
    GetWatcherEvents: (call: InsideCall, message: Message) => this.#ask(call, message),
    RemoveWatcher: (call: InsideCall, message: Message) => this.#remove(call, message),
  };

  constructor(parts: Pick<StreamParts, 'shares' | 'stopping'>) {
    this.#parts = parts;
  }

  async #create(call: InsideCall, message: Message): Promise<Message> {
    const { caller } = call.request;
    const leave = this.#parts.shares.take(caller.id);
    const stop = new AbortController();
    const watcherId = randomText(ID_CHARS);
    const idle = setTimeout(() => this.#end(watcherId), IDLE_MS).unref();
    const kept: Kept = { call, message, events: [], bytes: 0, room: null, idle, stop, leave };
    this.#kept.set(watcherId, kept);
    const begun = Promise.withResolvers<void>();
    const valid = call.services.identity.whileValid(caller, () => this.#end(watcherId));
    const visit = visitOf(call, AbortSignal.any([stop.signal, this.#parts.stopping]), stop.signal);
    const happened = (event: WatchEvent) => {
      kept.events.push(event);
      kept.bytes += EVENT_BYTES + event.name.length;
      if (kept.bytes < MOST_BYTES) return undefined;
      kept.room ??= Promise.withResolvers();
      return kept.room.promise;
    };
    // Changes until the folder was gone are still to be asked for.
    const watching = watchFolder(call, message, visit, { begun: begun.resolve, happened });
    void watching
      .then(begun.resolve, (error: unknown) => {
        this.#end(watcherId);
        begun.reject(error);
      })
      .finally(valid);
    await begun.promise;
    return { watcherId };
  }

  async #ask(call: InsideCall, { watcherId }: Message): Promise<Message> {
    assertScope(call.request.caller, 'sandboxes:read');
    const kept = this.#of(call, watcherId);
    const events = kept.events.splice(0);
    kept.bytes = 0;
    kept.room?.resolve();
    kept.room = null;
    kept.idle.refresh();
    const shown: Message[] = [];
    for (const event of events) shown.push(await described(call, kept.message, event));
    return { events: shown };
  }

  async #remove(call: InsideCall, { watcherId }: Message): Promise<Message> {
    this.#of(call, watcherId);
    this.#end(String(watcherId));
    return {};
  }

  #end(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    clearTimeout(kept?.idle);
    kept?.stop.abort(over());
    kept?.room?.resolve();
    kept?.leave();
  }

  /** Of this sandbox, made by the same owner. */
  #of(call: InsideCall, id: unknown): Kept {
    const kept = this.#kept.get(String(id));
    if (kept?.call.sandbox === call.sandbox && kept.call.request.caller.id === call.request.caller.id)
      return kept;
    throw new SandhavenError('not_found', `There is no watcher '${id}'.`, {
      hint: 'Watch the folder again.',
    });
  }
}

function over(): SandhavenError {
  return new SandhavenError('unavailable', 'The watch has ended.');
}
