/**
 * Follows the service's stream of changes once for all tabs: one of them holds it and passes on what comes. Browsers open six
 * connections to a service for all of their tabs together.
 */
import type { SandboxChange, Sandhaven } from '@sandhaven/sdk';

export interface SharedStream {
  /** Client of the owner whose changes are followed. */
  client: Sandhaven;
  /** Tabs with the same name share the stream. */
  name: string;
  wanted: { usage?: boolean; snapshots?: boolean; audit?: boolean; network?: string; health?: boolean };
}

/** @returns a function that ends it. */
export function shareStream(
  { client, name, wanted }: SharedStream,
  take: (change: SandboxChange) => void,
  failed: (error: unknown) => void,
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) => take(data as SandboxChange));
  const lead = async () => {
    for await (const change of client.changes({ signal, ...wanted })) {
      take(change);
      channel.postMessage(change);
    }
  };
  // The lock goes to another tab when this one is closed.
  navigator.locks.request(name, { signal }, lead).catch(failed);
  return () => {
    ending.abort();
    channel.close();
  };
}
