/** Sandbox.GitPull */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import {
  branchName,
  foundText,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
} from './parameters.ts';

export const gitPull = defineTool({
  name: 'Sandbox.GitPull',
  title: 'Pull from the remote',
  description:
    'Fetches from the remote (URL, or path in the sandbox) and merges into the branch that is checked ' +
    'out, with the credentials given at clone or configured. updated: whether anything came. ' +
    'failed_precondition: conflicts (edit the files, GitAdd, GitCommit), or local changes in the way.',
  input: z.strictObject({
    ...repositoryParameters,
    branch: branchName().optional().describe('Branch of the remote (default: the tracked one).'),
  }),
  output: z.looseObject({
    branch: z.string(),
    updated: z.boolean(),
    sha: z.string(),
    remote: z.string(),
    url: z.string(),
    ...repositoryFound,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  long: true,
  async handler(parameters, context) {
    const at = repositoryOf(parameters, context);
    return { ...(await context.services.git.pull(at, parameters.branch, optionsOf(context))) };
  },
  text: ({ branch, updated, sha, remote, url, ...found }) =>
    `${branch} ${updated ? 'is now' : 'was already'} at ${sha}, pulled from ${remote} (${url}).${foundText(found)}`,
});
