/** Wires uses of sandboxes, and what follows when there are none: their sleep, and the commands of the scheduler. */
import type { CallerRights } from '../../control/callers/caller-rights.ts';
import type { Machines } from '../../control/lifecycle/machines.ts';
import { Scheduler, type SchedulerDependencies } from '../../control/lifecycle/scheduler.ts';
import { SandboxSleep } from '../../control/lifecycle/sleep.ts';
import type { Replicas, Runtime, SandboxStore } from '../../control/ports/index.ts';
import type { OperationQueue } from '../../control/turns/operation-queue.ts';
import type { OtherReplicas } from '../../control/turns/other-replicas.ts';
import { SandboxUses } from '../../control/work/sandbox-uses.ts';

const SCHEDULER_INTERVAL_MS = 5_000;

interface Parts extends Omit<SchedulerDependencies, 'sleep' | 'canArchive' | 'intervalMs'> {
  store: SandboxStore;
  runtime: Runtime;
  machines: Machines;
  replicas: Replicas;
  queue: OperationQueue;
  callerRights: CallerRights;
  others: OtherReplicas;
  /** Seconds without activity after which sandboxes sleep; 0: never. */
  sleepAfterSeconds: number;
  /** Called with the sandbox that has fallen asleep, or wakes. */
  changed(id: string): void;
}

export function wireUses(parts: Parts) {
  const { store, runtime, machines, queue, activity, callerRights, others, clock } = parts;
  const start = (id: string) => machines.command(id, { type: 'start' });
  const uses = new SandboxUses(store, queue, activity, callerRights, others, start);
  runtime.sleep?.onChange(parts.changed);
  const usualSeconds = parts.sleepAfterSeconds;
  const sleep = new SandboxSleep({ store, runtime, machines, activity, usualSeconds, clock });
  const canArchive = () => runtime.capabilities.archive;
  const scheduler = new Scheduler({ ...parts, sleep, canArchive, intervalMs: SCHEDULER_INTERVAL_MS });
  return { uses, sleep, scheduler };
}
