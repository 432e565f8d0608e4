/** Sandbox.GitCheckout */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';
import { branchNameFault } from '../../model/git/ref.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import {
  foundText,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
  revision,
} from './parameters.ts';

export const gitCheckout = defineTool({
  name: 'Sandbox.GitCheckout',
  title: 'Switch to a branch or commit',
  description:
    'Switches to a branch (also one that only the remote has), tag or commit, or with ' +
    'create_new_branch makes branch ref at start_point and switches to it. failed_precondition: commit ' +
    'or discard local changes first.',
  input: z.strictObject({
    ref: revision().describe('Branch, tag or commit; the new branch with create_new_branch.'),
    ...repositoryParameters,
    create_new_branch: z.boolean().default(false).describe('Make the branch ref (default false).'),
    start_point: revision().optional().describe('Where a new branch starts (default: HEAD).'),
  }),
  output: z.looseObject({
    ref: z.string(),
    branch: z.string().nullable(),
    created: z.boolean(),
    ...repositoryFound,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, context) {
    const { ref, create_new_branch, start_point } = parameters;
    const at = repositoryOf(parameters, context);
    const { git } = context.services;
    if (!create_new_branch) return { ref, ...(await git.checkout(at, ref, optionsOf(context))) };
    const fault = branchNameFault(ref);
    if (fault !== null) throw invalidArgument('ref', `ref ${fault}.`, 'Give the name of the new branch.');
    const request = { name: ref, parameter: 'ref', ...withoutUndefined({ start: start_point }) };
    const made = await git.createBranch(at, request, optionsOf(context));
    return { ref, branch: ref, created: true, ...made };
  },
  text: ({ ref, branch, created, ...found }) => {
    const on = created ? `On the new branch ${branch}.` : `On branch ${branch}.`;
    return `${branch === null ? `HEAD is at ${ref}, on no branch.` : on}${foundText(found)}`;
  },
});
