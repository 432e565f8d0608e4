/** Sandbox.GitCommit */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { atMostBytes, textWithoutNul } from '../parameters/scalars.ts';
import {
  foundText,
  identity,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
} from './parameters.ts';

export const gitCommit = defineTool({
  name: 'Sandbox.GitCommit',
  title: 'Commit what is staged',
  description:
    'Commits what is staged (GitAdd), also to conclude a merge. Give author_name and author_email ' +
    'unless git config in the sandbox has them. failed_precondition: nothing is staged, conflicts are ' +
    'left, or the author is not known.',
  input: z.strictObject({
    message: textWithoutNul()
      .check(atMostBytes(limits.git.messageBytes))
      .refine((value) => value.trim() !== '', 'must not be empty')
      .describe('The whole message, kept as it is.'),
    ...repositoryParameters,
    author_name: identity().optional().describe('Author (default: from git config in the sandbox).'),
    author_email: identity().optional().describe('Address of the author (default: the same).'),
  }),
  output: z.looseObject({ sha: z.string(), branch: z.string().nullable(), ...repositoryFound }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async handler(parameters, context) {
    const { message, author_name, author_email } = parameters;
    const request = { message, ...withoutUndefined({ authorName: author_name, authorEmail: author_email }) };
    return context.services.git.commit(repositoryOf(parameters, context), request, optionsOf(context));
  },
  text: ({ sha, branch, ...found }) => `Committed ${sha} on ${branch ?? 'no branch'}.${foundText(found)}`,
});
