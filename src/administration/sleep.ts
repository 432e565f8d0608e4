/** Actions on the sleep of a sandbox: its settings, a pause, and its end. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import type { Slept } from '../control/lifecycle/sleep.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';

const { max: mostSeconds } = limits.sleepAfterSeconds;

const output = z.looseObject({
  sandbox: z.string(),
  asleep_since: z.string().nullable(),
  sleep_after_seconds: z.int().nullable().describe('null: as the operator has it.'),
  wake: z.boolean(),
});

function toView({ sandbox: { id, sleep }, since }: Slept): z.output<typeof output> {
  return {
    sandbox: id,
    asleep_since: since === null ? null : timestamp(since),
    sleep_after_seconds: sleep?.afterSeconds ?? null,
    wake: sleep?.wakes ?? false,
  };
}

export const setSandboxSleep = defineAction({
  name: 'SetSandboxSleep',
  title: 'Set the sleep of a sandbox',
  description:
    'Sets after how long without activity one of your sandboxes falls asleep, and whether a use of it starts it when it is ' +
    'stopped. One that sleeps is started still, keeps its memory and uses no processor; any use wakes it.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'sleep set',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    after_seconds: z
      .int()
      .min(limits.sleepAfterSeconds.min)
      .max(mostSeconds)
      .optional()
      .describe(`Seconds without activity (1–${mostSeconds}) after which it sleeps; 0: never.`),
    wake: z.boolean().optional().describe('true: a use starts it when it is stopped or archived.'),
  }),
  output,
  async handler({ sandbox: reference, after_seconds, wake }, { services, caller }) {
    const given = {
      ...(after_seconds === undefined ? {} : { afterSeconds: after_seconds }),
      ...(wake === undefined ? {} : { wakes: wake }),
    };
    return toView(await services.sleep.set(caller, reference, given));
  },
});

export const pauseSandbox = defineAction({
  name: 'PauseSandbox',
  title: 'Put a sandbox to sleep',
  description:
    'Puts one of your started sandboxes to sleep now, whatever runs in it: its processes stand still and go on when any use ' +
    'wakes it. Calls and connections that are open end.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'sleep pause',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output,
  handler: async ({ sandbox: reference }, { services, caller }) =>
    toView(await services.sleep.pause(caller, reference)),
});

export const resumeSandbox = defineAction({
  name: 'ResumeSandbox',
  title: 'Wake a sandbox',
  description: 'Wakes one of your sandboxes that sleeps. Any use does that by itself.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'sleep resume',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output,
  handler: async ({ sandbox: reference }, { services, caller }) =>
    toView(await services.sleep.resume(caller, reference)),
});
