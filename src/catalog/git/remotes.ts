/** Tools that reach a remote repository. */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';
import { parseGitRemote } from '../../model/git/remote.ts';
import { limits } from '../../model/limits.ts';
import { WORKSPACE } from '../../model/sandbox.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { path, textWithoutNul } from '../parameters/scalars.ts';
import {
  branchName,
  foundText,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
} from './parameters.ts';

export const gitClone = defineTool({
  name: 'Sandbox.GitClone',
  title: 'Clone a repository',
  description:
    'Clones a Git repository into a new or empty folder. Give username and password (access token) for ' +
    'a private one over http or https: they stay outside the sandbox and serve later pulls and pushes. ' +
    'already_exists: choose another path. To begin a new one, run git init with RunCommand.',
  input: z.strictObject({
    url: textWithoutNul()
      .min(1)
      .max(limits.git.urlChars)
      .meta({ description: 'URL (http, https, ssh, git, file) without password, or path.', sensitive: true }),
    sandbox: optionalSandbox,
    path: path().optional().describe('Destination folder (default: name from the URL, in /workspace).'),
    branch: branchName().optional().describe('Branch or tag (default: the default branch).'),
    commit_id: z
      .string()
      .regex(/^[0-9a-fA-F]{4,64}$/, 'must be a commit hash of 4 to 64 hexadecimal digits')
      .optional()
      .describe('Commit hash to check out, detached (default: head of the branch).'),
    username: textWithoutNul()
      .min(1)
      .max(limits.git.usernameChars)
      .refine((value) => !/[\p{Cc}:]/u.test(value), 'must hold neither ":" nor control characters')
      .optional()
      .meta({ description: 'User name at the remote.', sensitive: true }),
    password: textWithoutNul()
      .max(limits.git.passwordChars)
      .refine((value) => !/\p{Cc}/u.test(value), 'must hold no control characters')
      .optional()
      .meta({ description: 'Password or access token.', sensitive: true }),
  }),
  output: z.looseObject({ path: z.string(), branch: z.string().nullable(), sha: z.string().nullable() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  long: true,
  async handler(parameters, context) {
    const { branch, username, password } = parameters;
    const remote = parseGitRemote(parameters.url, WORKSPACE);
    const path = parameters.path ?? remote.name;
    if (path === '') {
      throw invalidArgument(
        'path',
        'path is required: the URL ends in no name for a folder.',
        'Give a path.',
      );
    }
    const request = {
      remote,
      path,
      ...withoutUndefined({ branch, commitId: parameters.commit_id, username, password }),
    };
    const place = { caller: context.caller, sandbox: parameters.sandbox };
    const cloned = await context.services.git.clone(place, request, optionsOf(context));
    return { path, ...cloned };
  },
  text: ({ path, branch, sha }) =>
    `Cloned into ${path}: ${branch ?? 'detached'} at ${sha ?? 'no commit yet'}.`,
});

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
