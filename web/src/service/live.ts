/**
 * Keeps the screens up to date by the service's own events: each names what has changed, and its queries are asked again.
 * A service without events answers 404, which ends the attempt; then focus and own actions refresh alone.
 */
import type { QueryClient } from '@tanstack/react-query';
import { type Change, changeOf, queriesOf } from './changes.ts';

const ROUTE = '/v1/events';
/** Changes that come together are answered by one round of questions. */
const GATHER_MS = 150;

/** @returns a function that ends it. */
export function followChanges(queries: QueryClient): () => void {
  const source = new EventSource(ROUTE);
  let waiting: Change[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = () => {
    timer = undefined;
    const keys = new Map(waiting.flatMap(queriesOf).map((key) => [JSON.stringify(key), key]));
    waiting = [];
    for (const queryKey of keys.values()) void queries.invalidateQueries({ queryKey });
  };
  source.addEventListener('change', ({ data }) => {
    const change = changeOf(data);
    if (!change) return;
    waiting.push(change);
    timer ??= setTimeout(refresh, GATHER_MS);
  });
  // Events may have been missed while the connection was broken.
  let opened = false;
  source.addEventListener('open', () => {
    if (opened) void queries.invalidateQueries();
    opened = true;
  });
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
