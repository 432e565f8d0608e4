/** Stages files, and commits what is staged. */
import { randomBytes } from 'node:crypto';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { holdsRawBytes, pathToBytes } from '../../model/path-text.ts';
import { failureOf, named, noIdentity, noRepository } from './faults.ts';
import { nulSeparated } from './formats.ts';
import type { Git, GitConfig } from './git.ts';

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

const EVERYTHING = '.';

/** Stages files for the next commit. Paths are literal: no file's name is a pattern. */
export interface Added {
  /** The requested paths that differ from the last commit and are staged now. */
  added: string[];
  /** Counts paths beyond the list too; a lower bound when git's own list was cut. */
  addedCount: number;
  truncated: boolean;
}

/** Stages paths, relative to the repository's root, as in GitStatus, or absolute. */
export async function add(git: Git, files: string[]): Promise<Added> {
  const root = await git.ask(['rev-parse', '--show-toplevel']);
  if (root === null) throw (await noRepository(git)) ?? notFound('folder', 'The repository is gone.');
  const top = git.at(root);
  const everything = files.includes(EVERYTHING);
  const run = everything ? await top.run(['add', '--all']) : await addPaths(top, files);
  if (run.exitCode !== 0) {
    throw (await unusable(top, files)) ?? (await failureOf(top, run, 'The files could not be staged.'));
  }
  const { names, cut } = await stagedNames(top);
  const wanted = everything ? names : names.filter(within(files.map((file) => normalized(file, root))));
  return {
    added: wanted.slice(0, limits.git.paths),
    addedCount: wanted.length,
    truncated: cut || wanted.length > limits.git.paths,
  };
}

async function stagedNames(git: Git): Promise<{ names: string[]; cut: boolean }> {
  const run = await git.run([
    'diff',
    '--cached',
    '--name-only',
    '-z',
    '--no-renames',
    '--no-ext-diff',
    '--no-relative',
  ]);
  if (run.exitCode !== 0) throw await failureOf(git, run, 'What is staged could not be read.');
  return { names: nulSeparated(run.stdout), cut: run.cut };
}

/** Writes a temporary file for input that cannot be an argument, and removes it after `use`. */
async function withFile<T>(git: Git, content: Buffer, use: (path: string) => Promise<T>): Promise<T> {
  const { agent, sandboxId, user, signal } = git.place;
  const path = `/tmp/.sandhaven-git-${randomBytes(12).toString('hex')}`;
  try {
    await agent.write(sandboxId, { user, path, createParents: true, mode: 0o600, content }, signal);
    return await use(path);
  } finally {
    await agent.remove(sandboxId, { user, path, recursive: false }).catch(() => {});
  }
}

async function addPaths(git: Git, files: string[]) {
  const bytes = files.reduce((sum, file) => sum + Buffer.byteLength(file) + 1, 0);
  if (bytes <= limits.git.argumentBytes && !files.some(holdsRawBytes)) {
    return git.run(['add', '--all', '--', ...files]);
  }
  const list = Buffer.concat(files.map((file) => Buffer.concat([pathToBytes(file), Buffer.of(0)])));
  return withFile(git, list, (path) =>
    git.run(['add', '--all', `--pathspec-from-file=${path}`, '--pathspec-file-nul']),
  );
}

/** Returns an error that names the missing or ignored files; null when the cause is another. */
async function unusable(git: Git, files: string[]): Promise<SandhavenError | null> {
  const { agent, sandboxId, user } = git.place;
  const checked = files.filter((file) => file !== EVERYTHING).slice(0, limits.git.namedFiles);
  const missing: string[] = [];
  const ignored: string[] = [];
  for (const file of checked) {
    const path = file.startsWith('/') ? file : `${git.folder}/${file}`;
    const there = await agent.stat(sandboxId, { user, path }).then(
      () => true,
      () => false,
    );
    if (!there) missing.push(file);
    else if (!holdsRawBytes(file) && (await git.holds(['check-ignore', '--quiet', '--', file]))) {
      ignored.push(file);
    }
  }
  if (missing.length > 0) {
    return new SandhavenError('not_found', `There is no file ${named(missing)} in the repository.`, {
      parameter: 'files',
      resource: 'file',
      hint: 'Paths start at the root of the repository, as Sandbox.GitStatus names them.',
    });
  }
  if (ignored.length === 0) return null;
  return new SandhavenError('failed_precondition', `${named(ignored)} is ignored by a .gitignore.`, {
    parameter: 'files',
    hint: 'Change the .gitignore, or stage it with Sandbox.RunCommand: git add --force.',
  });
}

function normalized(file: string, root: string): string {
  const inside = file === root ? '' : file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
  const parts: string[] = [];
  for (const part of inside.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Returns a predicate for names that equal one of the paths or lie below one. */
function within(paths: string[]): (name: string) => boolean {
  const wanted = new Set(paths);
  return (name) => {
    if (wanted.has('') || wanted.has(name)) return true;
    for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
      if (wanted.has(name.slice(0, at))) return true;
    }
    return false;
  };
}
