/** The action on the history of a sandbox's use. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';

const { stepMs } = limits.usage.history;

export const getUsageHistory = defineAction({
  name: 'GetUsageHistory',
  title: 'Get the history of use of a sandbox',
  description:
    'Shows what one of your sandboxes has used in the last hour: a sample each ten seconds in which it ran, and the processes that ' +
    'the kernel killed because its memory was exhausted. It is kept in memory: a restart of the service begins anew.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'usage history',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({
    sandbox: z.string(),
    step_seconds: z.int(),
    samples: z.array(
      z.looseObject({
        at: z.string(),
        cores: z.number().nullable().describe('Processors in use on average since the sample before.'),
        memory_bytes: z.int().nullable(),
        disk_bytes: z.int().nullable(),
      }),
    ),
    out_of_memory: z.array(
      z.looseObject({
        at: z.string(),
        killed: z.int().describe('Processes.'),
        process: z.string().nullable().describe('Name of the last of them, where the kernel gives it.'),
      }),
    ),
  }),
  async handler({ sandbox: reference }, { services, caller }) {
    const { sandboxId, samples, outOfMemory } = await services.usageHistory.of(caller, reference);
    return {
      sandbox: sandboxId,
      step_seconds: stepMs / 1_000,
      samples: samples.map(({ at, cores, memoryBytes, diskBytes }) => ({
        at: timestamp(at),
        cores: cores === null ? null : Math.round(cores * 1_000) / 1_000,
        memory_bytes: memoryBytes,
        disk_bytes: diskBytes,
      })),
      out_of_memory: outOfMemory.map(({ at, ...killed }) => ({ at: timestamp(at), ...killed })),
    };
  },
  rows: ({ samples, out_of_memory }) => [
    ...samples.map(({ at, cores, memory_bytes, disk_bytes }) => ({
      time: at.slice(11, 19),
      cores,
      memory_mib: inMebibytes(memory_bytes),
      disk_mib: inMebibytes(disk_bytes),
      event: eventAt(at, out_of_memory),
    })),
  ],
});

function inMebibytes(bytes: number | null): number | null {
  return bytes === null ? null : Math.round(bytes / 1024 ** 2);
}

/** Names what was killed within the step of a sample. */
function eventAt(at: string, kills: readonly { at: string; process: string | null }[]): string {
  const begin = Date.parse(at);
  const within = kills.filter((kill) => Date.parse(kill.at) >= begin && Date.parse(kill.at) < begin + stepMs);
  return within.map(({ process }) => `out of memory: ${process ?? 'a process'} was killed`).join(', ');
}
