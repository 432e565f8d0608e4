/** Sandbox.ForkSandbox */
import { z } from 'zod';
import { errorTable } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { sandboxOutput, sandboxText, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { newName, optionalSandbox } from '../parameters/sandbox.ts';

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
