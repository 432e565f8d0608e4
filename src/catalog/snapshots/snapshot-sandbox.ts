/** Sandbox.SnapshotSandbox */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { newName, optionalSandbox } from '../parameters/sandbox.ts';
import { snapshotOutput, snapshotText, toSnapshotView } from './snapshot-view.ts';

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
