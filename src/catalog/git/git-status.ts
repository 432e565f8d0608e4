/** Sandbox.GitStatus */
import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { optionsOf, repositoryOf, repositoryParameters } from './parameters.ts';

export const gitStatus = defineTool({
  name: 'Sandbox.GitStatus',
  title: 'Show what changed',
  description:
    'Shows what changed in a Git repository: branch (null when detached), staged, modified, untracked ' +
    'and conflicted paths from its root, commits ahead of and behind its upstream. ' +
    'failed_precondition: no repository at path.',
  input: z.strictObject(repositoryParameters),
  output: z.looseObject({
    branch: z.string().nullable(),
    staged: z.array(z.string()),
    modified: z.array(z.string()),
    untracked: z.array(z.string()),
    conflicted: z.array(z.string()),
    ahead: z.int(),
    behind: z.int(),
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, context) {
    const at = repositoryOf(parameters, context);
    return { ...(await context.services.git.status(at, optionsOf(context))) };
  },
});
