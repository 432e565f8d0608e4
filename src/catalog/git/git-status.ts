/** Sandbox.GitStatus */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { optionsOf, repositoryFound, repositoryOf, repositoryParameters } from './parameters.ts';

export const gitStatus = defineTool({
  name: 'Sandbox.GitStatus',
  title: 'Show what changed',
  description:
    'Shows what changed in a Git repository: branch (null when detached), staged, modified, untracked ' +
    'and conflicted paths from its root, commits ahead of and behind upstream ' +
    '(null without one). For a diff, run git diff with RunCommand.',
  input: z.strictObject(repositoryParameters),
  output: z.looseObject({
    branch: z.string().nullable(),
    staged: z.array(z.string()),
    modified: z.array(z.string()),
    untracked: z.array(z.string()),
    conflicted: z.array(z.string()),
    ahead: z.int(),
    behind: z.int(),
    upstream: z.string().nullable(),
    unborn: z.boolean(),
    ...repositoryFound,
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  forViewers: false,
  async handler(parameters, context) {
    const at = repositoryOf(parameters, context);
    return { ...(await context.services.git.status(at, optionsOf(context))) };
  },
});
