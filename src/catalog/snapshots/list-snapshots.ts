/** Sandbox.ListSnapshots */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { pageOf, pageOutput, pageParameters, pageText } from '../parameters/pagination.ts';
import { snapshotOutput, snapshotText, toSnapshotView } from './snapshot-view.ts';

export const listSnapshots = defineTool({
  name: 'Sandbox.ListSnapshots',
  title: 'List snapshots',
  description: 'Lists your snapshots, newest first, and last the base image as "base".',
  input: z.strictObject({ ...pageParameters }),
  output: z.looseObject({ snapshots: z.array(snapshotOutput), ...pageOutput }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const { page, page_size: pageSize } = parameters;
    const { snapshots, totalCount } = await services.snapshots.list(caller, { page, pageSize });
    return { snapshots: snapshots.map(toSnapshotView), ...pageOf(totalCount, parameters) };
  },
  text: ({ snapshots, ...page }) =>
    [pageText(page, ['snapshot', 'snapshots']), ...snapshots.map((view) => `- ${snapshotText(view)}`)].join(
      '\n',
    ),
});
