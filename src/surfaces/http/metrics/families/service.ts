/** The process itself: its build, its event loop, its background work, its database, its replicas, its audit log. */
import type { Turn } from '../../../../control/base/tallies.ts';
import type { Figures } from '../../../../control/metrics.ts';
import { version } from '../../../../home.ts';
import { type Family, type Sample, single } from './family.ts';

export const serviceFamilies: readonly Family[] = [
  {
    name: 'sandhaven_build_info',
    help: 'Versions of the service and of Node; always 1.',
    type: 'gauge',
    labels: ['version', 'node_version'],
    read: () => [{ labels: { version, node_version: process.version }, value: 1 }],
  },
  {
    name: 'sandhaven_event_loop_delay_seconds',
    help: 'Delay of the event loop within the last half minute, 99th percentile.',
    type: 'gauge',
    labels: [],
    read: ({ loopDelayMs }) => single(loopDelayMs / 1_000),
  },
  {
    name: 'sandhaven_worker_turn_age_seconds',
    help: 'Time since the end of the last turn of work that repeats.',
    type: 'gauge',
    labels: ['worker'],
    read: ({ turns }) => ofWorkers(turns, ({ ageMs }) => ageMs / 1_000),
  },
  {
    name: 'sandhaven_worker_turn_duration_seconds',
    help: 'Duration of the last turn of work that repeats.',
    type: 'gauge',
    labels: ['worker'],
    read: ({ turns }) => ofWorkers(turns, ({ durationMs }) => durationMs / 1_000),
  },
  {
    name: 'sandhaven_store_connections',
    help: 'Connections to PostgreSQL by their use.',
    type: 'gauge',
    labels: ['use'],
    read: ({ storeConnections: of }) =>
      of
        ? [
            { labels: { use: 'active' }, value: of.open - of.idle },
            { labels: { use: 'idle' }, value: of.idle },
          ]
        : [],
  },
  {
    name: 'sandhaven_store_connections_max',
    help: 'Connections to PostgreSQL that this process may have.',
    type: 'gauge',
    labels: [],
    read: ({ storeConnections }) => single(storeConnections?.max),
  },
  {
    name: 'sandhaven_store_waiting',
    help: 'Statements that wait for a connection to PostgreSQL.',
    type: 'gauge',
    labels: [],
    read: ({ storeConnections }) => single(storeConnections?.waiting),
  },
  {
    name: 'sandhaven_replicas',
    help: 'Live replicas of the installation, as this one sees them.',
    type: 'gauge',
    labels: [],
    read: ({ replicas }) => single(replicas?.live),
  },
  {
    name: 'sandhaven_replica_leased',
    help: '1 while the lease of this replica is valid, 0 when others may do its work.',
    type: 'gauge',
    labels: [],
    read: ({ replicas }) => single(replicas && Number(replicas.isLeased)),
  },
  {
    name: 'sandhaven_audit_intact',
    help: '1 when the last verification of the audit log by this process found no fault, else 0.',
    type: 'gauge',
    labels: [],
    read: ({ audit }) => single(audit && Number(audit.intact)),
  },
  {
    name: 'sandhaven_audit_events_lost',
    help: 'Events that the last verification of the audit log knows to be lost.',
    type: 'gauge',
    labels: [],
    read: ({ audit }) => single(audit?.eventsLost),
  },
];

function ofWorkers(turns: Figures['turns'], read: (turn: Turn) => number): Sample[] {
  return Object.entries(turns).flatMap(([worker, turn]) =>
    turn === null ? [] : [{ labels: { worker }, value: read(turn) }],
  );
}
