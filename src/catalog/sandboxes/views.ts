/** Tools that show sandboxes. */
import { z } from 'zod';
import { redactEnvVars, sandboxStates } from '../../model/sandbox.ts';
import {
  sandboxLine,
  sandboxOutput,
  shownOutput,
  toNetworkView,
  toSandboxView,
  toSecretsView,
} from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { pageOf, pageOutput, pageParameters, pageText } from '../parameters/pagination.ts';
import { sandbox } from '../parameters/sandbox.ts';
import { labels } from '../parameters/scalars.ts';

export const getSandbox = defineTool({
  name: 'Sandbox.GetSandbox',
  title: 'Get a sandbox',
  description:
    'Shows one sandbox: state, resources, labels, automatic stop, archive and delete, times, usage (memory_bytes and ' +
    'disk_bytes in use now), secrets and env_vars with secret-looking values redacted.',
  input: z.strictObject({
    sandbox,
    include_raw_env_vars: z.boolean().default(false).describe('Show redacted env_vars too (default false).'),
  }),
  output: shownOutput.extend({
    usage: z.looseObject({ memory_bytes: z.int().nullable(), disk_bytes: z.int().nullable() }),
    env_vars: z.record(z.string(), z.string()),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const found = await services.sandboxes.get(caller, parameters.sandbox);
    const envVars = parameters.include_raw_env_vars ? found.envVars : redactEnvVars(found.envVars);
    const { memoryBytes, diskBytes } = await services.sandboxes.usage(found);
    const usage = { memory_bytes: memoryBytes, disk_bytes: diskBytes };
    const network = toNetworkView(found.network);
    const { ownerId, secretIds } = found;
    const secrets = toSecretsView(await services.sandboxSecrets.of({ ownerId, secretIds }));
    return { ...toSandboxView(found), usage, env_vars: envVars, network, secrets };
  },
});

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
