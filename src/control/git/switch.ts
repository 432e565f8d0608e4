/** Switches to branches, creates and deletes them. */
import { SandhavenError } from '../../model/errors.ts';
import { failureOf, noRepository, noSuchBranch, noSuchRef, quoted } from './faults.ts';
import type { Git } from './git.ts';

export interface Checkout {
  /** null: HEAD is detached, at a tag or a commit. */
  branch: string | null;
  /** true: the checkout created the branch, also one that only the remote had. */
  created: boolean;
}

/** Checks out a ref. Creates a tracking branch for one that only a remote has, as git itself does. */
export async function checkout(git: Git, ref: string): Promise<Checkout> {
  const had = await hasBranch(git, ref);
  const run = await git.run(['checkout', '--quiet', ref, '--']);
  if (run.exitCode !== 0) {
    const none = await noRepository(git);
    if (none) throw none;
    if ((await git.commit(ref)) === null) throw noSuchRef('ref', ref);
    throw await failureOf(
      git,
      run,
      `${quoted(ref)} could not be checked out.`,
      'Local changes in the way: commit them first with Sandbox.GitAdd and Sandbox.GitCommit, or discard them.',
    );
  }
  const branch = await git.branch();
  return { branch, created: !had && branch === ref };
}

export async function createBranch(git: Git, name: string, parameter: string, start?: string): Promise<void> {
  const run = await git.run([
    'checkout',
    '--quiet',
    '-b',
    name,
    ...(start === undefined ? [] : [start]),
    '--',
  ]);
  if (run.exitCode === 0) return;
  const none = await noRepository(git);
  if (none) throw none;
  if (await hasBranch(git, name)) {
    throw new SandhavenError('already_exists', `There is a branch ${quoted(name)} already.`, {
      parameter,
      hint: 'Switch to it with Sandbox.GitCheckout, or take another name.',
    });
  }
  if (start !== undefined && (await git.commit(start)) === null) throw noSuchRef('start_point', start);
  throw await failureOf(git, run, `The branch ${quoted(name)} could not be made.`);
}

export async function deleteBranch(git: Git, name: string, force: boolean): Promise<void> {
  const run = await git.run(['branch', '--quiet', force ? '-D' : '-d', '--', name]);
  if (run.exitCode === 0) return;
  const none = await noRepository(git);
  if (none) throw none;
  if ((await git.branch()) === name) {
    throw new SandhavenError('failed_precondition', `${quoted(name)} is the branch that is checked out.`, {
      parameter: 'branch',
      hint: 'Switch to another one with Sandbox.GitCheckout first.',
    });
  }
  if (!(await hasBranch(git, name))) throw noSuchBranch(name);
  if (!force && !(await git.holds(['merge-base', '--is-ancestor', `refs/heads/${name}`, 'HEAD']))) {
    throw new SandhavenError('failed_precondition', `${quoted(name)} has commits that are merged nowhere.`, {
      parameter: 'branch',
      hint: 'Merge it first, or set force to true to lose them.',
    });
  }
  throw await failureOf(git, run, `The branch ${quoted(name)} could not be deleted.`);
}

export async function hasBranch(git: Git, name: string): Promise<boolean> {
  return git.holds(['show-ref', '--verify', '--quiet', '--', `refs/heads/${name}`]);
}
