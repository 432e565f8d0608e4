/** Sandbox.GitPush */
import { z } from 'zod';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import {
  branchName,
  foundText,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
} from './parameters.ts';

export const gitPush = defineTool({
  name: 'Sandbox.GitPush',
  title: 'Push to the remote',
  description:
    'Pushes a branch to that of the same name at its remote (URL, or path in the sandbox), with ' +
    'the credentials given at clone or configured; it then tracks that one. failed_precondition: the ' +
    'remote has newer commits; call GitPull first.',
  input: z.strictObject({
    ...repositoryParameters,
    branch: branchName().optional().describe('Local branch (default: the current one).'),
    force: z.boolean().default(false).describe('Replace what the remote has (default false).'),
  }),
  output: z.looseObject({
    branch: z.string(),
    remote: z.string(),
    url: z.string(),
    pushed: z.boolean(),
    ...repositoryFound,
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  long: true,
  async handler(parameters, context) {
    const { branch, force } = parameters;
    const request = { force, ...withoutUndefined({ branch }) };
    const at = repositoryOf(parameters, context);
    return { ...(await context.services.git.push(at, request, optionsOf(context))), pushed: true };
  },
  text: ({ branch, remote, url, ...found }) => `Pushed ${branch} to ${remote} (${url}).${foundText(found)}`,
});
