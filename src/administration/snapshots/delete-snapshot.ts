/** DeleteSnapshot: deletes a snapshot and frees its name and its part of the quota. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';

export const deleteSnapshot = defineAction({
  name: 'DeleteSnapshot',
  title: 'Delete a snapshot',
  description:
    'Deletes one of your snapshots, for good and in any state; cancels one in progress. Sandboxes ' +
    'created from it continue, stop and start as before: each keeps its image and entrypoint.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'snapshots rm',
  argument: 'snapshot',
  input: z.strictObject({
    snapshot: textWithoutNul().min(1).max(limits.sandboxNameChars).describe('Snapshot name or ID.'),
  }),
  output: z.looseObject({ id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ snapshot }, { services, caller }) {
    const { id, name } = await services.snapshots.delete(caller, snapshot);
    return { id, name, deleted: true as const };
  },
});
