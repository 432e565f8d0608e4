/**
 * Wires what followers see beside changes of sandboxes: their usage, rows of the audit log, and the service's health; and
 * webhooks, with the worker that delivers their events.
 */
import type { AuditService } from '../../control/audit/audit.ts';
import type { CallerRights } from '../../control/callers/caller-rights.ts';
import type { Machines } from '../../control/lifecycle/machines.ts';
import { Scheduler, type SchedulerDependencies } from '../../control/lifecycle/scheduler.ts';
import { SandboxSleep } from '../../control/lifecycle/sleep.ts';
import { AuditEvents } from '../../control/live/audit-events.ts';
import { Deliverer } from '../../control/live/deliverer.ts';
import { HealthService } from '../../control/live/health.ts';
import { HealthEvents } from '../../control/live/health-events.ts';
import type { SandboxEvents } from '../../control/live/sandbox-events.ts';
import { UsageHistory } from '../../control/live/usage-history.ts';
import { UsageSampler, usageInside } from '../../control/live/usage-sampler.ts';
import { WebhookService } from '../../control/live/webhooks.ts';
import type { UserService } from '../../control/people/users.ts';
import type {
  AgentLink,
  Clock,
  EverybodyStore,
  Log,
  Replicas,
  Runtime,
  SandboxStore,
  Store,
} from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import type { OperationQueue } from '../../control/turns/operation-queue.ts';
import type { OtherReplicas } from '../../control/turns/other-replicas.ts';
import { SandboxUses } from '../../control/work/sandbox-uses.ts';
import { Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import type { AllowedHost } from '../../model/network/allowed-hosts.ts';
import type { Exit } from '../../outbound/exit.ts';
import { createWebhookSender } from '../../webhooks/sender.ts';

export interface LiveDependencies {
  sandboxes: SandboxStore;
  everybody: EverybodyStore;
  /** Bounds of the warm pool. */
  pool: { min: number; max: number };
  events: SandboxEvents;
  runtime: Runtime;
  agent: AgentLink;
  audit: AuditService;
  users: UserService;
  /** Sandboxes are Pods, whose usage only their agents know. */
  isCluster: boolean;
  clock: Clock;
  log: Log;
}

export function wireLive(
  parts: LiveDependencies,
): Pick<Services, 'usage' | 'usageHistory' | 'auditEvents' | 'health' | 'healthEvents'> {
  const { sandboxes, everybody, pool, events, runtime, agent, audit, users, isCluster, clock, log } = parts;
  const roleOf = async (id: string) => (await users.find(id)).role;
  const health = new HealthService({ store: sandboxes, everybody, runtime, pool, clock, log });
  return {
    health,
    healthEvents: new HealthEvents({ health, roleOf, log }),
    auditEvents: new AuditEvents({ audit, roleOf, log }),
    usageHistory: new UsageHistory({ store: sandboxes, runtime, clock, log }),
    usage: new UsageSampler({
      ...{ store: sandboxes, events, clock, log },
      measure: isCluster ? usageInside(agent) : (id) => runtime.usage(id),
      bounds: limits.usage[isCluster ? 'cluster' : 'host'],
    }),
  };
}

export interface WebhookParts {
  store: Pick<Store, 'webhooks' | 'replicas'>;
  /** Receivers that the operator allows besides public ones. */
  allowed: readonly AllowedHost[];
  exit: Exit;
  clock: Clock;
  log: Log;
  /** Certificates to trust in place of the usual ones. */
  ca?: string | Buffer;
}

export function wireWebhooks({ store, allowed, exit, clock, log, ca }: WebhookParts) {
  const sender = createWebhookSender({ exit, allowed, ca });
  const places = new Shares({ ...limits.webhooks.atOnce, what: 'events of webhooks are being delivered' });
  const parts = { store: store.webhooks, sender, places, clock, log };
  return {
    webhooks: new WebhookService({ ...parts, allowed }),
    deliverer: new Deliverer({ ...parts, replicas: store.replicas }),
  };
}

// Wires uses of sandboxes, and what follows when there are none: their sleep, and the commands of the scheduler.

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
