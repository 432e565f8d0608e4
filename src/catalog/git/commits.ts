/** Tools on commits of a repository: what has changed, what is staged and committed, and what was. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { atMostBytes, integerWithDefault, path, textWithoutNul } from '../parameters/scalars.ts';
import {
  foundText,
  identity,
  optionsOf,
  repositoryFound,
  repositoryOf,
  repositoryParameters,
  revision,
} from './parameters.ts';

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

/** Number of paths in the text. */
const SHOWN = 20;

export const gitAdd = defineTool({
  name: 'Sandbox.GitAdd',
  title: 'Stage files',
  description:
    'Stages files or folders for the next commit, deletions included; ["."] stages everything. Paths ' +
    "are literal and start at the repository's root, as GitStatus names them.",
  input: z.strictObject({
    files: z.array(path()).min(1).max(limits.git.files).describe('Paths to stage.'),
    ...repositoryParameters,
  }),
  output: z.looseObject({
    added: z.array(z.string()),
    added_count: z.int(),
    ...repositoryFound,
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, context) {
    const at = repositoryOf(parameters, context);
    const { addedCount, ...rest } = await context.services.git.add(at, parameters.files, optionsOf(context));
    return { ...rest, added_count: addedCount };
  },
  text: ({ added, added_count, truncated, ...found }) => {
    const names = added.slice(0, SHOWN).join(', ');
    const more = added_count > SHOWN ? `, and ${added_count - SHOWN} more` : '';
    const cut = truncated ? ' The list of them is truncated.' : '';
    return `Staged: ${added_count}${names && ` (${names}${more})`}.${cut}${foundText(found)}`;
  },
});

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
