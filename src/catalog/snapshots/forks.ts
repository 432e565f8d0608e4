/** Tools of the files of a sandbox as a whole: kept in a snapshot, put back to one, and in others that start from them. */
import { z } from 'zod';
import { errorTable } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { sandboxOutput, sandboxText, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { newName, optionalSandbox } from '../parameters/sandbox.ts';
import { textWithoutNul } from '../parameters/scalars.ts';
import { snapshotOutput, snapshotText, toSnapshotView } from './snapshots.ts';

export const snapshotSandbox = defineTool({
  name: 'Sandbox.SnapshotSandbox',
  title: 'Take a snapshot of a sandbox',
  description:
    "Keeps a sandbox's disk as it is now, for CreateSandbox with `snapshot`: files and installed programs, not what runs. A " +
    'started one stands still meanwhile and goes on. Sandboxes made from it have its sizes, entrypoint, user and network. Files ' +
    'that hold secrets are in it too.',
  input: z.strictObject({
    sandbox: optionalSandbox,
    name: newName('snap_').optional().describe('Unique name of the snapshot (default: generated).'),
  }),
  output: snapshotOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  long: true,
  handler: async ({ sandbox, name }, { services, caller }) =>
    toSnapshotView(await services.sandboxSnapshots.take(caller, sandbox, name)),
  text: snapshotText,
});

export const rollbackSandbox = defineTool({
  name: 'Sandbox.RollbackSandbox',
  title: 'Roll a sandbox back',
  description:
    'Puts the disk of a sandbox back to a snapshot of it, and starts it. All changes of its files since then are lost, and what ' +
    'runs in it ends. Its settings, ID and secrets stay. Take another snapshot first to be able to come back.',
  input: z.strictObject({
    sandbox: optionalSandbox,
    snapshot: textWithoutNul()
      .min(1)
      .max(limits.sandboxNameChars)
      .describe('Name or ID of a snapshot that SnapshotSandbox has taken.'),
  }),
  output: sandboxOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  long: true,
  handler: async ({ sandbox, snapshot }, { services, caller }) =>
    toSandboxView(services.sandboxes.seen(await services.rollbacks.rollBack(caller, sandbox, snapshot))),
  text: sandboxText,
});

const { min, max } = limits.fork.count;
const codes = Object.keys(errorTable) as [keyof typeof errorTable];

export const forkSandbox = defineTool({
  name: 'Sandbox.ForkSandbox',
  title: 'Fork a sandbox',
  description:
    'Starts new sandboxes with the files of another, as they all were at one moment, and with its settings: to try several ' +
    'ways from one state. What runs in it is not copied; a started one stands still meanwhile and goes on. Each fork is one ' +
    'more sandbox, independent of the others.',
  input: z.strictObject({
    sandbox: optionalSandbox,
    count: z.int().min(min).max(max).default(1).describe(`How many (${min}-${max}, default 1).`),
    name: newName('sb_')
      .optional()
      .describe('Name of the fork, or what the names of several begin with (default: generated).'),
  }),
  output: z.looseObject({
    sandboxes: z.array(sandboxOutput),
    failed: z
      .array(z.looseObject({ code: z.enum(codes), detail: z.string() }))
      .describe('Forks that did not start.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  long: true,
  async handler({ sandbox, ...request }, { services, caller }) {
    const forked = await services.forks.fork(caller, sandbox, withoutUndefined(request));
    return {
      sandboxes: forked.flatMap((one) => ('sandbox' in one ? [toSandboxView(one.sandbox)] : [])),
      failed: forked.flatMap((one) =>
        'error' in one ? [{ code: one.error.code, detail: one.error.message }] : [],
      ),
    };
  },
  text: ({ sandboxes, failed }) =>
    [
      ...sandboxes.map((view) => `- ${sandboxText(view)}`),
      ...failed.map(({ code, detail }) => `- A fork did not start (${code}): ${detail}`),
    ].join('\n'),
});
