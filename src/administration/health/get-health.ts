/** GetHealth: room, sandboxes, warm pool, pauses, the process and the doctor's findings, for operators. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { healthOutput, toHealthView } from './health-view.ts';

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
