/**
 * A copy of the objects of one kind with given labels, kept current: one list, then a watch from the list's version. A
 * watch that ends goes on where it ended; one that is told its version is too old (410) begins with a list again.
 *
 * Invariant: what `get` and `values` return was true at some moment within the last `staleMs`, or `current` rejects. So
 * changes are made by what the API itself answers, and the copy serves for looks and waits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../control/ports/index.ts';
import { canceled, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Api } from './api.ts';
import { ApiFailure, isExpired } from './failure.ts';
import type { KubeObject } from './objects.ts';

const { eventBytes, retryMs, staleMs, requestMs, watchSeconds } = limits.kubernetes;

export interface InformerOptions {
  api: Api;
  path: string;
  labelSelector?: string;
  /** Keeps names, labels and annotations, and nothing else. */
  metadataOnly?: boolean;
  /** Objects, for the log. */
  what: string;
  log: Log;
}

export interface Informer<T extends KubeObject> {
  /** Begins in the background. */
  begin(): void;
  /** Resolves when the copy is current. Rejects with `unavailable` when it is not within the timeout of a request. */
  current(): Promise<void>;
  get(name: string): T | undefined;
  values(): T[];
  /**
   * Calls `judge` with the object, now and after each of its changes, until it returns anything but undefined.
   * Rejects when the signal is aborted, and with `late` after `timeoutMs`.
   */
  until<R>(name: string, judge: (object: T | undefined) => R | undefined, options: Wait): Promise<R>;
  close(): void;
}

export interface Wait {
  timeoutMs: number;
  late(): Error;
  signal?: AbortSignal | undefined;
}

export function createInformer<T extends KubeObject>(options: InformerOptions): Informer<T> {
  const { api, path, labelSelector, metadataOnly = false, what, log } = options;
  const objects = new Map<string, T>();
  const listeners = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  const selector: Record<string, string> = labelSelector === undefined ? {} : { labelSelector };
  let version: string | null = null;
  /** Time at which the copy was last known to be current; null before the first list. */
  let currentAt: number | null = null;
  let watching = false;
  let synced = Promise.withResolvers<void>();

  const changed = (name: string) => {
    for (const listener of listeners.get(name) ?? []) listener();
  };

  async function list(): Promise<void> {
    const found = new Map<string, T>();
    const take = (items: T[]) => {
      for (const item of items) found.set(item.metadata.name, item);
    };
    version = await api.list(path, take, { query: selector, metadataOnly, signal: closing.signal });
    const names = new Set([...objects.keys(), ...found.keys()]);
    objects.clear();
    for (const [name, object] of found) objects.set(name, object);
    for (const name of names) changed(name);
  }

  async function watch(from: string): Promise<void> {
    const query = {
      ...selector,
      resourceVersion: from,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(watchSeconds),
    };
    const answer = await api.watch(path, query, { signal: closing.signal, metadataOnly });
    watching = true;
    synced.resolve();
    for await (const event of eventsOf<T>(answer)) {
      currentAt = performance.now();
      if (event.type === 'ERROR') {
        const { code = 500, reason = '', message = '' } = event.object;
        throw new ApiFailure(code, reason, message);
      }
      const { object } = event;
      version = object.metadata.resourceVersion ?? version;
      if (event.type === 'BOOKMARK') continue;
      const { name } = object.metadata;
      if (event.type === 'DELETED') objects.delete(name);
      else objects.set(name, object);
      changed(name);
    }
  }

  async function follow(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        if (version === null) await list();
        currentAt = performance.now();
        await watch(version ?? '');
        failures = 0;
      } catch (error) {
        if (closing.signal.aborted) return;
        if (isExpired(error)) version = null;
        // A watch that worked for a while is no failure.
        failures = watching ? 0 : failures + 1;
        if (!isExpired(error)) log.warn('a watch of the Kubernetes API broke off', { what, error });
      } finally {
        if (watching) currentAt = performance.now();
        watching = false;
        synced = Promise.withResolvers();
      }
      const pauseMs = Math.min(retryMs.longest, retryMs.first * 2 ** failures);
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const isCurrent = () =>
    watching || (currentAt !== null && version !== null && performance.now() - currentAt < staleMs);

  return {
    begin: () => void follow(),

    async current() {
      const deadline = performance.now() + requestMs;
      while (!isCurrent()) {
        const left = deadline - performance.now();
        if (left <= 0) throw stale(what);
        await Promise.race([synced.promise, sleep(Math.min(left, 250))]);
      }
    },

    get: (name) => objects.get(name),
    values: () => [...objects.values()],

    until<R>(name: string, judge: (object: T | undefined) => R | undefined, wait: Wait): Promise<R> {
      const { promise, resolve, reject } = Promise.withResolvers<R>();
      const look = () => {
        try {
          const judged = judge(objects.get(name));
          if (judged !== undefined) resolve(judged);
        } catch (error) {
          reject(error);
        }
      };
      const onAbort = () => reject(canceled(wait.signal?.reason));
      const timer = setTimeout(() => reject(wait.late()), wait.timeoutMs);
      const own = listeners.get(name) ?? new Set();
      listeners.set(name, own.add(look));
      wait.signal?.addEventListener('abort', onAbort, { once: true });
      if (wait.signal?.aborted) onAbort();
      else look();
      return promise.finally(() => {
        clearTimeout(timer);
        wait.signal?.removeEventListener('abort', onAbort);
        own.delete(look);
        if (own.size === 0 && listeners.get(name) === own) listeners.delete(name);
      });
    },

    close: () => closing.abort(),
  };
}

function stale(what: string): SandhavenError {
  return new SandhavenError('unavailable', `The service does not know the present ${what} of Kubernetes.`, {
    hint: 'Try again in a moment; the API server does not answer.',
  });
}

type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }
  | { type: 'ERROR'; object: { code?: number; reason?: string; message?: string } };

/** One JSON document a line. Ends with the stream; throws for a line that is too long, and for one that is no event. */
export async function* eventsOf<T extends KubeObject>(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<WatchEvent<T>> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
      parts = [];
      length = 0;
      from = end + 1;
      if (line.trim() !== '') yield JSON.parse(line) as WatchEvent<T>;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > eventBytes) throw new Error('an event of a watch is too long');
  }
}
