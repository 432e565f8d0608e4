/** Sandbox.ListSandboxes */
import { z } from 'zod';
import { sandboxStates } from '../../model/sandbox.ts';
import { sandboxLine, sandboxOutput, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { pageOf, pageOutput, pageParameters, pageText } from '../parameters/pagination.ts';
import { labels } from '../parameters/string-map.ts';

export const listSandboxes = defineTool({
  name: 'Sandbox.ListSandboxes',
  title: 'List sandboxes',
  description: 'Lists your sandboxes, newest first, by state or labels where given.',
  input: z.strictObject({
    state: z.enum(sandboxStates).optional().describe('Only those in this state.'),
    labels: labels().optional().describe('Only those with all of these labels.'),
    ...pageParameters,
  }),
  output: z.looseObject({ sandboxes: z.array(sandboxOutput), ...pageOutput }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const { state, labels, page, page_size } = parameters;
    const found = await services.sandboxes.list(caller, withoutUndefined({ state, labels }), {
      page,
      pageSize: page_size,
    });
    return { sandboxes: found.sandboxes.map(toSandboxView), ...pageOf(found.totalCount, parameters) };
  },
  text: ({ sandboxes, ...page }) =>
    [
      pageText(page, ['sandbox', 'sandboxes']),
      ...sandboxes.map((view) => `- ${sandboxLine(view)} Created ${view.created_at}.`),
    ].join('\n'),
});
