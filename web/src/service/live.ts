/**
 * Keeps the screens up to date by the service's own events: each names what has changed, and its queries are asked again.
 * Where the service refuses the stream, or has none, focus and own actions refresh alone.
 */
import { readEvents } from '@sandhaven/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { type Change, changeOf, queriesOf } from './changes.ts';
import { pageHeaders } from './request.ts';

const ROUTE = '/v1/events';
/** Changes that come together are answered by one round of questions. */
const GATHER_MS = 150;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** @returns a function that ends it. */
export function followChanges(queries: QueryClient): () => void {
  const ending = new AbortController();
  const gathered = gather(queries, ending.signal);
  void follow(queries, gathered, ending.signal);
  return () => ending.abort();
}

async function follow(
  queries: QueryClient,
  take: (change: Change) => void,
  signal: AbortSignal,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let connections = 0; !signal.aborted; connections++) {
    // The header of the page is why this is no EventSource, which can send none.
    const headers = { ...pageHeaders, accept: 'text/event-stream' };
    const response = await fetch(ROUTE, { headers, signal }).catch(() => null);
    if (!response?.ok) void response?.body?.cancel();
    if (response && !isTransient(response.status) && !response.ok) return;
    if (response?.ok && response.body) {
      pauseMs = FIRST_PAUSE_MS;
      // Changes may have been missed while the connection was broken.
      if (connections > 0) void queries.invalidateQueries();
      await takeAll(response.body, take);
    }
    await pause(pauseMs * (0.5 + Math.random()), signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

async function takeAll(body: ReadableStream<Uint8Array>, take: (change: Change) => void): Promise<void> {
  try {
    for await (const { data } of readEvents(body)) {
      const change = changeOf(data);
      if (change) take(change);
    }
  } catch {
    // The connection broke; the caller connects again.
  }
}

function gather(queries: QueryClient, signal: AbortSignal): (change: Change) => void {
  let waiting: Change[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = () => {
    timer = undefined;
    const keys = new Map(waiting.flatMap(queriesOf).map((key) => [JSON.stringify(key), key]));
    waiting = [];
    for (const queryKey of keys.values()) void queries.invalidateQueries({ queryKey });
  };
  signal.addEventListener('abort', () => clearTimeout(timer));
  return (change) => {
    waiting.push(change);
    timer ??= setTimeout(refresh, GATHER_MS);
  };
}

function isTransient(status: number): boolean {
  return status === 429 || status >= 500;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
