/** Sandbox.RollbackSandbox */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { sandboxOutput, sandboxText, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { textWithoutNul } from '../parameters/scalars.ts';

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
