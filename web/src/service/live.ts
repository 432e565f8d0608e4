/**
 * Keeps the screens up to date by the service's stream of changes.
 */
import { isSandhavenError, type SandboxChange } from '@sandhaven/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { actingTeam } from './acting-team.ts';
import { client } from './client.ts';
import { signInKey } from './query-client.ts';
import { putSandbox, removeSandbox, sandboxesKey } from './sandbox-list.ts';
import { shareStream } from './shared-stream.ts';
import { snapshotProgress } from './snapshot-progress.ts';
import { usageHistories } from './usage.ts';

/** Tabs that act for different owners share no stream. */
const NAME = `sandhaven-changes ${actingTeam() ?? ''}`;
/** Queries of one sandbox, and totals, are repeated once for changes that come together. */
const GATHER_MS = 250;

/** @returns a function that ends it. */
export function followChanges(queries: QueryClient): () => void {
  let end = follow(queries);
  // A page in the browser's back-forward cache would keep the lock from the other tabs.
  const hidden = () => end();
  const shown = ({ persisted }: PageTransitionEvent) => {
    if (persisted) end = follow(queries);
  };
  window.addEventListener('pagehide', hidden);
  window.addEventListener('pageshow', shown);
  return () => {
    window.removeEventListener('pagehide', hidden);
    window.removeEventListener('pageshow', shown);
    end();
  };
}

function follow(queries: QueryClient): () => void {
  const ending = new AbortController();
  const take = taker(queries, ending.signal);
  const stream = { client, name: NAME, wanted: { usage: true, snapshots: true } };
  const end = shareStream(stream, take, (error) => {
    // The answer to who is signed in shows the way back.
    if (isSandhavenError(error, 'unauthenticated')) void queries.invalidateQueries({ queryKey: signInKey });
  });
  return () => {
    ending.abort();
    end();
  };
}

function taker(queries: QueryClient, signal: AbortSignal): (change: SandboxChange) => void {
  let changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const askAgain = () => {
    timer = undefined;
    for (const id of changed) void queries.invalidateQueries({ queryKey: ['sandbox', id] });
    changed = new Set();
    void queries.invalidateQueries({ queryKey: ['users'] });
    void queries.invalidateQueries({ queryKey: ['teams'] });
  };
  signal.addEventListener('abort', () => clearTimeout(timer));
  return (change) => {
    if (change.type === 'refresh') {
      void queries.invalidateQueries({ queryKey: sandboxesKey });
      void queries.invalidateQueries({ queryKey: ['sandbox'] });
      void queries.invalidateQueries({ queryKey: ['snapshots'] });
      return;
    }
    if (change.type === 'snapshot_progress') {
      snapshotProgress.take(change);
      return;
    }
    if (change.type === 'snapshot' || change.type === 'snapshot_deleted') {
      void queries.invalidateQueries({ queryKey: ['snapshots'] });
      return;
    }
    if (change.type === 'usage') {
      usageHistories.take(change.sandboxes);
      return;
    }
    if (change.type === 'deleted') removeSandbox(queries, change.id);
    else if (change.type === 'sandbox') {
      putSandbox(queries, change.sandbox);
      changed.add(change.sandbox.id);
    }
    timer ??= setTimeout(askAgain, GATHER_MS);
  };
}
