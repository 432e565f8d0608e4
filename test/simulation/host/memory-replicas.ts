/** Replicas over a table in memory, in virtual time: the rules of the database's, in the plainest way. */
import type { Replicas, Topic } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { newReplicaId } from '../../../src/model/ids.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Dice } from '../core/dice.ts';
import type { VirtualTime } from '../core/virtual-time.ts';

/** The ends of those who listen. */
export type Bus = Set<(from: string, topic: Topic, text: string) => void>;

export interface MemoryReplicasOptions {
  /** Live replicas with the time of their last renewal, by the monotonic clock. */
  table: Map<string, number>;
  time: VirtualTime;
  dice: Dice;
  bus: Bus;
  /** Whether the store writes nothing now. */
  full(): boolean;
}

/** Probability that a message is lost. */
const LOST = 0.2;

export function memoryReplicas({ table, time, dice, bus, full }: MemoryReplicasOptions): Replicas {
  const { leaseMs, workMs, renewMs } = limits.replicas;
  const changes: (() => void)[] = [];
  const heard = new Map<Topic, (text: string) => void>();
  let id = newReplicaId();
  let until = 0;
  let lease = new AbortController();
  let known = '';
  let steadySince = 0;

  const isLeased = () => {
    if (!lease.signal.aborted && time.elapsedMs < until) return true;
    lease.abort(new SandhavenError('unavailable', 'The lease is over.', { retryable: true }));
    return false;
  };
  const renew = () => {
    if (full()) return;
    if (!isLeased()) steadySince = time.elapsedMs;
    if (!table.has(id)) {
      lease.abort(new SandhavenError('unavailable', 'The replica was given up.', { retryable: true }));
      id = newReplicaId();
    }
    table.set(id, time.elapsedMs);
    until = time.elapsedMs + workMs;
    if (lease.signal.aborted) lease = new AbortController();
    if (time.elapsedMs - steadySince > leaseMs) {
      for (const [other, at] of table) if (at < time.elapsedMs - leaseMs) table.delete(other);
    }
    const now = [...table.keys()].sort().join(' ');
    if (now === known) return;
    known = now;
    for (const listener of changes) listener();
  };
  // A replica that comes while nothing can be written has to wait.
  lease.abort();
  renew();
  setInterval(renew, renewMs);
  bus.add((from, topic, text) => {
    if (from !== id && table.has(id)) heard.get(topic)?.(text);
  });

  return {
    shared: true,
    get id() {
      return id;
    },
    get count() {
      return table.size;
    },
    get lease() {
      return lease.signal;
    },
    assertLeased() {
      if (!isLeased()) throw new SandhavenError('unavailable', 'The lease is over.', { retryable: true });
    },
    lives: async (other) => table.has(other),
    isMine: (work) => isLeased() && highest([...table.keys()], work) === id,
    onChange: (listener) => void changes.push(listener),
    changed: (_, withinMs) => new Promise((resolve) => setTimeout(resolve, dice.oneOf([1, withinMs]))),
    heard: async () => {},
    tell(topic, text) {
      if (!dice.chance(LOST)) for (const hear of bus) hear(id, topic, text);
    },
    onWritten: () => {},
    onGap: () => {},
    onTold: (topic, listener) => void heard.set(topic, listener),
  };
}

function highest(replicas: string[], work: string): string | undefined {
  return replicas.sort((a, b) => rank(b, work) - rank(a, work))[0];
}

/** FNV-1a. */
function rank(replica: string, work: string): number {
  let sum = 0x811c9dc5;
  for (const char of `${replica} ${work}`) sum = Math.imul(sum ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return sum;
}
