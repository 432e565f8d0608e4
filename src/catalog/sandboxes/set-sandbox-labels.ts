/** Sandbox.SetSandboxLabels */
import { z } from 'zod';
import { labelledOutput, sandboxText, toSandboxView } from '../base/sandbox-view.ts';
import { defineTool } from '../base/tool.ts';
import { sandbox } from '../parameters/sandbox.ts';
import { labels } from '../parameters/string-map.ts';

export const setSandboxLabels = defineTool({
  name: 'Sandbox.SetSandboxLabels',
  title: 'Set the labels of a sandbox',
  description:
    'Replaces all labels of a sandbox; {} removes them. To add one, give the present ones too ' +
    '(GetSandbox shows them).',
  input: z.strictObject({
    sandbox,
    labels: labels().describe('All labels, as strings; at most 64.'),
  }),
  output: labelledOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    return toSandboxView(await services.sandboxes.setLabels(caller, parameters.sandbox, parameters.labels));
  },
  text: sandboxText,
});
