/** The metrics as they are, over parts that stand still. */
import type { AuditService } from '../../../src/control/audit/audit.ts';
import { creationBounds, DurationTally } from '../../../src/control/base/tallies.ts';
import { type MetricSources, Metrics } from '../../../src/control/metrics.ts';

/** Of one host with every figure known: two creations, a pool of two, an operation that waits. */
export function fakeMetrics(
  audit: Pick<AuditService, 'onCall' | 'lastReport'>,
  more: Partial<MetricSources> = {},
): Metrics {
  const made = { warm: new DurationTally(creationBounds), cold: new DurationTally(creationBounds) };
  made.warm.add(30);
  made.cold.add(1_500);
  return new Metrics({
    store: {
      sandboxes: { promisedDiskGb: async () => 40 },
      connections: () => ({ open: 4, idle: 3, max: 10, waiting: 1 }),
    },
    runtime: {
      capacity: async () => ({
        ...{ freeMemoryBytes: 8e9, freeDiskBytes: 5e10, reserveMemoryBytes: 1e9, reserveDiskBytes: 5e9 },
        ...{ freeSlots: 100, gpus: 2, freeGpus: 1 },
        host: { memoryBytes: 16e9, diskBytes: 1e11, usedSlots: 3 },
      }),
    },
    audit,
    creation: { made },
    pool: { state: { ready: 1, making: 1, wanted: 2, min: 2, max: 5 } },
    queue: { load: () => ({ running: 2, waiting: 1, longestWaitMs: 250 }) },
    scheduler: {
      lastTurn: { durationMs: 4, ageMs: 1_000 },
      census: { byState: new Map([['started', 7]]), paused: 1 },
    },
    reconciled: () => ({ durationMs: 500, ageMs: 60_000 }),
    identity: { refusedByRate: 6 },
    health: { loopDelayMs: 12 },
    replicas: { shared: true, count: 2, lease: new AbortController().signal },
    ...more,
  });
}
