/** Sandbox.GetSandbox */
import { z } from 'zod';
import { redactEnvVars } from '../../model/sandbox.ts';
import { shownOutput, toNetworkView, toSandboxView, toSecretsView } from '../base/sandbox-view.ts';
import { defineTool } from '../base/tool.ts';
import { sandbox } from '../parameters/sandbox.ts';

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
