/** Sandbox.GetSnapshot */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { textWithoutNul } from '../parameters/scalars.ts';
import { snapshotOutput, snapshotText, toSnapshotView } from './snapshot-view.ts';

export const getSnapshot = defineTool({
  name: 'Sandbox.GetSnapshot',
  title: 'Get a snapshot',
  description:
    'Shows one snapshot: state (pending, pulling, active or error, with state_reason), image, ' +
    'resources, entrypoint and size.',
  input: z.strictObject({
    snapshot: textWithoutNul().min(1).max(limits.sandboxNameChars).describe('Snapshot name or ID.'),
  }),
  output: snapshotOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ snapshot }, { services, caller }) {
    return toSnapshotView(await services.snapshots.get(caller, snapshot));
  },
  text: snapshotText,
});
