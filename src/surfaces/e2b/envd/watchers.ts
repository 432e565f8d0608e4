/**
 * Watches that clients ask for their changes again and again. Each is kept here from one question to the next, by its replica alone, and
 * ends some minutes after the last one.
 */
import { SandhavenError } from '../../../model/errors.ts';
import { randomText } from '../../../model/ids.ts';
import { assertScope } from '../../../model/scopes.ts';
import type { Message } from './connect.ts';
import type { InsideCall } from './entries.ts';
import { type StreamParts, visitOf } from './streams.ts';
import { described, type WatchEvent, watchFolder } from './watching.ts';

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
