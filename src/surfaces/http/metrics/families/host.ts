/** Room for sandboxes: memory, disk, slots, GPUs. Sizes are known of a host alone, not of a cluster. */
import { limits } from '../../../../model/limits.ts';
import { type Family, single } from './family.ts';

export const hostFamilies: readonly Family[] = [
  {
    name: 'sandhaven_memory_free_bytes',
    help: 'Memory that sandboxes can still take.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.freeMemoryBytes),
  },
  {
    name: 'sandhaven_memory_reserve_bytes',
    help: 'Free memory below which no sandbox starts.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.reserveMemoryBytes),
  },
  {
    name: 'sandhaven_memory_size_bytes',
    help: 'Memory of the host.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.host?.memoryBytes),
  },
  {
    name: 'sandhaven_disk_free_bytes',
    help: 'Free space of the file system that holds the disks of sandboxes.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.host && capacity.freeDiskBytes),
  },
  {
    name: 'sandhaven_disk_reserve_bytes',
    help: 'Free space below which no sandbox starts.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.host && capacity.reserveDiskBytes),
  },
  {
    name: 'sandhaven_disk_guard_bytes',
    help: 'Free space below which the guard pauses the sandboxes that take most of it.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.host && limits.disk.shortBytes),
  },
  {
    name: 'sandhaven_disk_size_bytes',
    help: 'Size of the file system that holds the disks of sandboxes.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.host?.diskBytes),
  },
  {
    name: 'sandhaven_disk_promised_bytes',
    help: 'Disks of all sandboxes at their full size.',
    type: 'gauge',
    labels: [],
    read: ({ promisedDiskBytes }) => single(promisedDiskBytes),
  },
  {
    name: 'sandhaven_slots_free',
    help: 'Sandboxes that can still start, by their number alone.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.freeSlots),
  },
  {
    name: 'sandhaven_slots_used',
    help: 'Slots that machines of this host hold.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.host?.usedSlots),
  },
  {
    name: 'sandhaven_gpus',
    help: 'GPUs for sandboxes.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.gpus),
  },
  {
    name: 'sandhaven_gpus_free',
    help: 'GPUs that no sandbox holds.',
    type: 'gauge',
    labels: [],
    read: ({ capacity }) => single(capacity?.freeGpus),
  },
];
