/**
 * Connections to the API: counts those of strangers, who have shown no key yet, and of users, and cuts those whose client does
 * not read. There is always room for one more stranger, since every member begins as one: the oldest connection of the address
 * with most of them is closed for it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { keepOpen, readNoMore } from '../../../fairness/paced-connection.ts';
import { Shares } from '../../../fairness/shares.ts';
import { limits } from '../../../model/limits.ts';
import { breakOff, transportOf } from '../../streams.ts';

export class Connections {
  /** Keyed by address; the oldest connection first. */
  readonly #strangers = new Map<string, Set<Socket>>();
  #count = 0;
  /** Removes a stranger from the count. */
  readonly #leave = new WeakMap<Socket, () => void>();
  readonly #known = new WeakMap<Socket, { user: string | null; release: () => void }>();
  readonly #users = new Shares({
    ...limits.shares.connections,
    what: 'connections are already open',
  });

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#arrived(socket));
  }

  /**
   * Assigns a connection to the user of the key last shown on it. Throws `resource_exhausted` when that user has too
   * many.
   * @param user null for a connection of a proxy, which carries many.
   */
  belongsTo(connection: Socket, user: string | null): void {
    const socket = transportOf(connection) ?? connection;
    const before = this.#known.get(socket);
    if (before?.user === user || socket.destroyed) return;
    const release = user === null ? () => {} : this.#users.take(user);
    before?.release();
    this.#leave.get(socket)?.();
    this.#known.set(socket, { user, release });
    if (!before) socket.once('close', () => this.#known.get(socket)?.release());
  }

  #arrived(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    if (this.#count >= limits.strangers) this.#makeRoom();
    const own = this.#strangers.get(address) ?? new Set();
    this.#strangers.set(address, own.add(socket));
    this.#count++;
    const leave = () => {
      this.#leave.delete(socket);
      this.#count--;
      own.delete(socket);
      if (own.size === 0 && this.#strangers.get(address) === own) this.#strangers.delete(address);
    };
    this.#leave.set(socket, leave);
    socket.once('close', () => this.#leave.get(socket)?.());
  }

  #makeRoom(): void {
    let most = new Set<Socket>();
    for (const own of this.#strangers.values()) if (own.size > most.size) most = own;
    const [oldest] = most;
    if (!oldest) return;
    this.#leave.get(oldest)?.();
    oldest.destroy();
  }
}

/**
 * Gives a client that was answered before it had sent everything time to read the answer: closing a connection with
 * unread bytes discards the answer. The rest of its request is read for a short while, up to a bound: a sender of
 * repeatedly refused requests must not have all of it read.
 */
export function linger(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  let left = limits.lingerBytes;
  const read = (slice: Buffer) => {
    left -= slice.length;
    if (left < 0) readNoMore(socket);
  };
  const release = keepOpen(socket);
  const timer = setTimeout(() => socket.destroy(), limits.lingerMs);
  const over = () => {
    clearTimeout(timer);
    request.off('close', over);
    socket.off('close', over).off('data', read);
    release();
    if (socket.writableEnded) socket.destroy();
  };
  request.once('close', over);
  socket.once('close', over);
  // A body too large to be read to its end is not read at all.
  if (Number(request.headers['content-length']) > left) readNoMore(socket);
  socket.on('data', read);
  request.resume();
}

/**
 * Answers whose call is in progress. What waits of them is bounded, and a reader who pauses, as a pager does, keeps the
 * command that it watches, until no command runs any more.
 */
export const patient = new WeakSet<ServerResponse>();

interface Watched {
  /** Bytes that the kernel had taken at the last progress, and its time. */
  taken: number;
  progressAt: number;
  /** Begin of the time in which it has to read on. */
  since: number;
}

/** Cuts connections whose client reads nothing of a waiting answer: unread bytes must not stay in memory. */
export class SlowReaders {
  readonly #open = new Map<ServerResponse, Watched>();
  #timer: NodeJS.Timeout | null = null;

  watch(response: ServerResponse): void {
    const now = performance.now();
    this.#open.set(response, { taken: -1, progressAt: now, since: now });
    response.once('close', () => this.#open.delete(response));
    this.#timer ??= setInterval(() => this.#look(), limits.stalledReaderCheckMs).unref();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const now = performance.now();
    for (const [response, watched] of this.#open) {
      const { socket } = response;
      // A tunnel's bytes wait at the other end.
      if (!socket || response.statusCode === 101) continue;
      const waiting = socket.writableLength;
      const taken = socket.bytesWritten - waiting;
      if (waiting === 0 || taken > watched.taken) {
        watched.taken = taken;
        watched.progressAt = now;
        watched.since = now;
      } else if (patient.has(response) && now - watched.progressAt < limits.live.stalledMs) {
        watched.since = now;
      } else if (now - watched.since >= limits.stalledReaderMs) {
        this.#open.delete(response);
        breakOff(socket);
      }
    }
  }
}

/** One promise for all that wait for the client of an answer, however many of its pieces are on their way. */
const waits = new WeakMap<ServerResponse, Promise<void>>();

/** Resolves when the client of an answer that is written piece by piece has read on, or has left; undefined where it has room. */
export function readOn(raw: ServerResponse): Promise<void> | undefined {
  if (!raw.writableNeedDrain || raw.destroyed) return undefined;
  const waiting = waits.get(raw);
  if (waiting) return waiting;
  const wait = new Promise<void>((resolve) => {
    const over = () => {
      raw.off('drain', over).off('close', over);
      waits.delete(raw);
      resolve();
    };
    // Nobody waits for a client that has left.
    raw.on('drain', over).on('close', over);
  });
  waits.set(raw, wait);
  return wait;
}
