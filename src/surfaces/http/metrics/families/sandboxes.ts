/** Sandboxes: creations, states, the warm pool, operations in their queues. */
import { sandboxStates } from '../../../../model/sandbox.ts';
import { type Family, histogram, single } from './family.ts';

export const sandboxFamilies: readonly Family[] = [
  {
    name: 'sandhaven_sandbox_creation_duration_seconds',
    help: 'Durations of creations that succeeded, without the pull of an image: warm from the pool, cold of a new machine.',
    type: 'histogram',
    labels: ['way'],
    read: ({ creations: { warm, cold } }) => [
      ...histogram(warm, { way: 'warm' }),
      ...histogram(cold, { way: 'cold' }),
    ],
  },
  {
    name: 'sandhaven_sandboxes',
    help: 'Sandboxes of all owners by state, without those that an operation works on.',
    type: 'gauge',
    labels: ['state'],
    read: ({ census }) =>
      census
        ? sandboxStates.map((state) => ({ labels: { state }, value: census.byState.get(state) ?? 0 }))
        : [],
  },
  {
    name: 'sandhaven_sandboxes_paused',
    help: 'Started sandboxes that are paused for want of disk.',
    type: 'gauge',
    labels: [],
    read: ({ census }) => single(census?.paused),
  },
  {
    name: 'sandhaven_pool_ready',
    help: 'Sandboxes of the warm pool that can be claimed, at its last look; of the replica that fills it.',
    type: 'gauge',
    labels: [],
    read: ({ pool }) => single(pool.ready),
  },
  {
    name: 'sandhaven_pool_making',
    help: 'Sandboxes that are being made for the warm pool.',
    type: 'gauge',
    labels: [],
    read: ({ pool }) => single(pool.making),
  },
  {
    name: 'sandhaven_pool_wanted',
    help: 'Size of the warm pool that the demand calls for.',
    type: 'gauge',
    labels: [],
    read: ({ pool }) => single(pool.wanted),
  },
  {
    name: 'sandhaven_pool_min',
    help: 'Least size of the warm pool.',
    type: 'gauge',
    labels: [],
    read: ({ pool }) => single(pool.min),
  },
  {
    name: 'sandhaven_pool_max',
    help: 'Largest size of the warm pool; 0 for none.',
    type: 'gauge',
    labels: [],
    read: ({ pool }) => single(pool.max),
  },
  {
    name: 'sandhaven_operations_running',
    help: 'Operations on sandboxes in progress in this process.',
    type: 'gauge',
    labels: [],
    read: ({ operations }) => single(operations.running),
  },
  {
    name: 'sandhaven_operations_waiting',
    help: 'Operations that wait for another one on their sandbox.',
    type: 'gauge',
    labels: [],
    read: ({ operations }) => single(operations.waiting),
  },
  {
    name: 'sandhaven_operations_longest_wait_seconds',
    help: 'Wait so far of the operation that has waited longest.',
    type: 'gauge',
    labels: [],
    read: ({ operations }) => single(operations.longestWaitMs / 1_000),
  },
];
