/**
 * The latest events of each sandbox's network, in memory. A sandbox that causes many displaces its own alone; when all have
 * too many together, those of the sandbox that has been silent longest go.
 */
import { limits } from '../../../../model/limits.ts';
import type { NetworkEvent } from './messages.ts';

export interface EventLog {
  add(events: NetworkEvent[]): void;
  /** Returns the events of a sandbox, the oldest first. */
  of(sandbox: string): NetworkEvent[];
}

const { eventsPerSandbox, events: mostEvents } = limits.network;

export function createEventLog(): EventLog {
  /** The sandbox with the latest event comes last. */
  const logs = new Map<string, NetworkEvent[]>();
  let count = 0;

  function add(event: NetworkEvent): void {
    const log = logs.get(event.sandbox) ?? [];
    logs.delete(event.sandbox);
    logs.set(event.sandbox, log);
    log.push(event);
    count++;
    if (log.length > eventsPerSandbox) {
      log.shift();
      count--;
    }
    const [silent] = logs.keys();
    if (count > mostEvents && silent !== undefined) {
      count -= logs.get(silent)?.length ?? 0;
      logs.delete(silent);
    }
  }

  return {
    add(events) {
      for (const event of events) add(event);
    },
    of: (sandbox) => [...(logs.get(sandbox) ?? [])],
  };
}
