/** Sandbox.GitClone */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';
import { parseGitRemote } from '../../model/git/remote.ts';
import { limits } from '../../model/limits.ts';
import { WORKSPACE } from '../../model/sandbox.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { path } from '../parameters/path.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { textWithoutNul } from '../parameters/scalars.ts';
import { branchName, optionsOf } from './parameters.ts';

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
