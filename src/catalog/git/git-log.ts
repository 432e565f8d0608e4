/** Sandbox.GitLog */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { integerWithDefault } from '../parameters/scalars.ts';
import { optionsOf, repositoryFound, repositoryOf, repositoryParameters, revision } from './parameters.ts';

export const gitLog = defineTool({
  name: 'Sandbox.GitLog',
  title: 'Show the commits',
  description: 'Lists commits, newest first: hash, author, email, date (UTC) and message.',
  input: z.strictObject({
    ...repositoryParameters,
    max_count: integerWithDefault('Most commits', limits.git.log),
    branch: revision().optional().describe('Branch, tag or commit to start from (default: current).'),
  }),
  output: z.looseObject({
    commits: z.array(
      z.looseObject({
        hash: z.string(),
        author: z.string(),
        email: z.string(),
        date: z.string(),
        message: z.string(),
      }),
    ),
    ...repositoryFound,
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  forViewers: false,
  async handler(parameters, context) {
    const { branch, max_count } = parameters;
    const request = { maxCount: max_count, ...withoutUndefined({ branch }) };
    const at = repositoryOf(parameters, context);
    const { commits, ...rest } = await context.services.git.log(at, request, optionsOf(context));
    return {
      commits: commits.map(({ date, ...commit }) => ({ ...commit, date: new Date(date).toISOString() })),
      ...rest,
    };
  },
});
