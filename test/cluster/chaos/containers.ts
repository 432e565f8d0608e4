/** Agents of sandboxes as the kernel of this machine has them, whatever the cluster and the service believe. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface Watch {
  /** Sandboxes that had two agents in containers at one moment. */
  doubled: Set<string>;
  /** How often it has looked. */
  looks(): number;
  stop(): Promise<void>;
}

const INTERVAL_MS = 250;
const AGENT_OF = /(?:^|\0)\/?\S*sandhaven-agent\0(?:.*\0)?--sandbox-id\0([^\0]+)\0/;

/** Looks four times a second: two writers of one disk would be there for the time of a stop at least. */
export function watchContainers(): Watch {
  const doubled = new Set<string>();
  let looks = 0;
  let isEnding = false;
  const watching = (async () => {
    while (!isEnding) {
      for (const [id, count] of runningAgents()) if (count > 1) doubled.add(id);
      looks += 1;
      await delay(INTERVAL_MS);
    }
  })();
  return {
    doubled,
    looks: () => looks,
    async stop() {
      isEnding = true;
      await watching;
    },
  };
}

/** Counts processes that are the agent of a sandbox and PID 1 of a container of a cluster, by the sandbox's id. */
export function runningAgents(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const id = AGENT_OF.exec(read(`/proc/${pid}/cmdline`))?.[1];
    const isFirst = id !== undefined && /^NSpid:.*\t1$/m.test(read(`/proc/${pid}/status`));
    if (!isFirst || !read(`/proc/${pid}/cgroup`).includes('kubepods')) continue;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** Empty for a process that has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
