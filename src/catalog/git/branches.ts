/** Tools on branches, and the one that switches between them. */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';
import { branchNameFault } from '../../model/git/ref.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import {
  branchName,
  foundText,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
  revision,
} from './parameters.ts';

export const gitBranches = defineTool({
  name: 'Sandbox.GitBranches',
  title: 'List branches',
  description:
    'Lists the local branches with name and current, and current, the one checked out (null when ' +
    'detached; unborn: no commit yet). Branches of the remote become local with GitCheckout.',
  input: z.strictObject(repositoryParameters),
  output: z.looseObject({
    branches: z.array(z.looseObject({ name: z.string(), current: z.boolean() })),
    current: z.string().nullable(),
    unborn: z.boolean(),
    ...repositoryFound,
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  forViewers: false,
  async handler(parameters, context) {
    const at = repositoryOf(parameters, context);
    return { ...(await context.services.git.branches(at, optionsOf(context))) };
  },
});

export const gitCreateBranch = defineTool({
  name: 'Sandbox.GitCreateBranch',
  title: 'Create a branch',
  description:
    'Makes a branch at start_point and switches to it, with local changes kept. ' +
    'already_exists: switch to it with GitCheckout.',
  input: z.strictObject({
    branch: branchName().describe('Name of the new branch.'),
    ...repositoryParameters,
    start_point: revision().optional().describe('Branch, tag or commit to start at (default: HEAD).'),
  }),
  output: z.looseObject({ branch: z.string(), switched: z.boolean(), ...repositoryFound }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async handler(parameters, context) {
    const { branch, start_point } = parameters;
    const request = { name: branch, parameter: 'branch', ...withoutUndefined({ start: start_point }) };
    const at = repositoryOf(parameters, context);
    const made = await context.services.git.createBranch(at, request, optionsOf(context));
    return { branch, switched: true, ...made };
  },
  text: ({ branch, ...found }) => `Switched to the new branch ${branch}.${foundText(found)}`,
});

export const gitDeleteBranch = defineTool({
  name: 'Sandbox.GitDeleteBranch',
  title: 'Delete a branch',
  description:
    'Deletes a local branch. failed_precondition: it is checked out (GitCheckout another), or not ' +
    'merged (force: true loses its commits).',
  input: z.strictObject({
    branch: branchName().describe('Local branch.'),
    ...repositoryParameters,
    force: z.boolean().default(false).describe('Delete it even if it is not merged (default false).'),
  }),
  output: z.looseObject({ branch: z.string(), deleted: z.boolean(), ...repositoryFound }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async handler(parameters, context) {
    const { branch, force } = parameters;
    const deleted = await context.services.git.deleteBranch(
      repositoryOf(parameters, context),
      { branch, force },
      optionsOf(context),
    );
    return { branch, deleted: true, ...deleted };
  },
  text: ({ branch, ...found }) => `Deleted the branch ${branch}.${foundText(found)}`,
});

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
