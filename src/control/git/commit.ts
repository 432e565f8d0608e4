/** Commits the staged changes. */
import { SandhavenError } from '../../model/errors.ts';
import { failureOf, named, noIdentity, noRepository } from './faults.ts';
import { nulSeparated } from './formats.ts';
import type { Git, GitConfig } from './git.ts';
import { withFile } from './stage.ts';

export interface CommitRequest {
  message: string;
  authorName?: string;
  authorEmail?: string;
}

/** Passes the message by a file: git would add a line end to an argument. */
export async function commit(
  git: Git,
  request: CommitRequest,
): Promise<{ sha: string; branch: string | null }> {
  const { config, env } = identityOf(request);
  const run = await withFile(git, Buffer.from(request.message), (file) =>
    git.run(['commit', '--quiet', '--cleanup=verbatim', '--no-edit', '--file', file], { config, env }),
  );
  if (run.exitCode !== 0) {
    throw (
      (await refusalOf(git, { config, env })) ??
      (await failureOf(git, run, 'The commit was not made.', 'A hook of the repository may have refused it.'))
    );
  }
  const sha = await git.commit('HEAD');
  if (sha === null) throw new SandhavenError('failed_precondition', 'The commit is not there any more.');
  return { sha, branch: await git.branch() };
}

/** Returns the names of files with unresolved conflicts. */
export async function conflicts(git: Git): Promise<string[]> {
  const run = await git.run(['ls-files', '--unmerged', '-z', '--full-name', '--', ':/'], {
    env: { GIT_LITERAL_PATHSPECS: '0' },
  });
  const names = nulSeparated(run.stdout).map((entry) => entry.slice(entry.indexOf('\t') + 1));
  return [...new Set(names)];
}

export function unresolved(files: string[], hint: string): SandhavenError {
  return new SandhavenError('failed_precondition', `There are conflicts in ${named(files)}.`, { hint });
}

/** Returns true when git has an author and a committer without guessing. */
export async function knowsWhoCommits(
  git: Git,
  options: { config?: GitConfig; env?: Record<string, string> } = {},
): Promise<boolean> {
  for (const name of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    if ((await git.run(['var', name], options)).exitCode !== 0) return false;
  }
  return true;
}

/**
 * Uses the given name and email for author and committer, over any configuration; the sandbox's configuration supplies
 * the rest.
 */
function identityOf({ authorName, authorEmail }: CommitRequest): {
  config: GitConfig;
  env: Record<string, string>;
} {
  const config: GitConfig = [];
  const env: Record<string, string> = {};
  if (authorName !== undefined) {
    config.push(['user.name', authorName]);
    env['GIT_AUTHOR_NAME'] = authorName;
  }
  if (authorEmail !== undefined) {
    config.push(['user.email', authorEmail]);
    env['GIT_AUTHOR_EMAIL'] = authorEmail;
  }
  return { config, env };
}

async function refusalOf(
  git: Git,
  options: { config: GitConfig; env: Record<string, string> },
): Promise<SandhavenError | null> {
  const none = await noRepository(git);
  if (none) return none;
  const files = await conflicts(git);
  if (files.length > 0) {
    return unresolved(files, 'Resolve them in the files, stage them with Sandbox.GitAdd, then commit.');
  }
  const merging = (await git.commit('MERGE_HEAD')) !== null;
  if (!merging && (await git.holds(['diff', '--cached', '--quiet', '--no-ext-diff']))) {
    return new SandhavenError('failed_precondition', 'Nothing is staged.', {
      hint: 'Call Sandbox.GitAdd first, with files ["."] for everything.',
    });
  }
  return (await knowsWhoCommits(git, options)) ? null : noIdentity();
}
