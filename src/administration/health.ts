/** The health of the service, for operators. */
import { z } from 'zod';
import type { Health } from '../control/live/health.ts';
import { defineAction } from './action.ts';

const bytes = z.number();
const sample = z.looseObject({
  time: z.string(),
  free_memory_bytes: bytes,
  free_disk_bytes: bytes,
  resident_bytes: bytes.describe('Memory of the service itself.'),
  loop_delay_ms: z.number().describe('Delay of the event loop, 99th percentile.'),
});
const finding = z.looseObject({
  name: z.string(),
  status: z.enum(['ok', 'warn', 'fail']),
  found: z.string(),
  advice: z.string().nullable(),
});

const healthOutput = z.looseObject({
  capacity: z.looseObject({
    free_memory_bytes: bytes,
    reserve_memory_bytes: bytes,
    free_disk_bytes: bytes,
    reserve_disk_bytes: bytes,
    free_slots: z.number(),
    gpus: z.int(),
    free_gpus: z.int(),
  }),
  sandboxes: z.looseObject({ total: z.int(), started: z.int(), paused: z.int() }),
  pool: z.looseObject({ ready: z.int(), min: z.int(), max: z.int() }),
  samples: z.array(sample).describe('Oldest first; the last one is of this moment.'),
  doctor: z.looseObject({ checked_at: z.string(), findings: z.array(finding) }).nullable(),
});

type HealthView = z.output<typeof healthOutput>;

export function toHealthView({ capacity, sandboxes, pool, samples, doctor }: Health): HealthView {
  return {
    capacity: {
      ...{ free_memory_bytes: capacity.freeMemoryBytes, reserve_memory_bytes: capacity.reserveMemoryBytes },
      ...{ free_disk_bytes: capacity.freeDiskBytes, reserve_disk_bytes: capacity.reserveDiskBytes },
      ...{ free_slots: capacity.freeSlots, gpus: capacity.gpus, free_gpus: capacity.freeGpus },
    },
    ...{ sandboxes, pool },
    samples: samples.map((one) => ({
      time: new Date(one.time).toISOString(),
      ...{ free_memory_bytes: one.freeMemoryBytes, free_disk_bytes: one.freeDiskBytes },
      ...{ resident_bytes: one.residentBytes, loop_delay_ms: one.loopDelayMs },
    })),
    doctor: doctor && {
      checked_at: new Date(doctor.checkedAt).toISOString(),
      findings: doctor.findings.map(({ name, status, found, advice = null }) => ({
        ...{ name, status, found, advice },
      })),
    },
  };
}

export const getHealth = defineAction({
  name: 'GetHealth',
  title: 'Show the health of the service',
  description:
    'Room for sandboxes, their number and how many are paused for want of disk, the warm pool, samples of the last half ' +
    "hour, and the doctor's findings, at most a minute old. Figures of the host are those of the replica that answers.",
  role: 'admin',
  command: 'health show',
  input: z.strictObject({}),
  output: healthOutput,
  handler: async (_parameters, { services }) => toHealthView(await services.health.look()),
  rows: ({ doctor }) => (doctor?.findings ?? []).map(({ status, name, found }) => ({ status, name, found })),
});
