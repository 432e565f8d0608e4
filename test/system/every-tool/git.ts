/** Git: a private repository, from its clone to a push. */
import { expect } from 'vitest';
import { startGitServer } from '../../support/git-server.ts';
import type { Walk } from './walk.ts';

const user = { username: 'walker', password: 'walked' };
const author = { author_name: 'Ada', author_email: 'ada@example.org' };

export const git: Walk = async (ok) => {
  const remote = await startGitServer(user);
  try {
    const url = remote.create('walk', { 'a.txt': 'one\n' });
    const path = 'walk';
    expect(await ok('GitClone', { url, ...user })).toMatchObject({ path, branch: 'main' });
    await ok('GitCreateBranch', { path, branch: 'side' });
    await ok('WriteFile', { path: 'walk/b.txt', content: 'two\n' });
    expect(await ok('GitStatus', { path })).toMatchObject({ branch: 'side', untracked: ['b.txt'] });
    expect(await ok('GitAdd', { path, files: ['.'] })).toMatchObject({ added: ['b.txt'] });
    const { sha } = await ok('GitCommit', { path, message: 'two', ...author });
    expect(await ok('GitLog', { path, max_count: 1 })).toMatchObject({
      commits: [{ hash: sha, message: 'two' }],
    });
    expect(await ok('GitPush', { path })).toMatchObject({ branch: 'side', pushed: true });
    expect(await ok('GitCheckout', { path, ref: 'main' })).toMatchObject({ branch: 'main' });
    expect(await ok('GitPull', { path, branch: 'side' })).toMatchObject({ updated: true, sha });
    expect(await ok('GitBranches', { path })).toMatchObject({ current: 'main' });
    expect(await ok('GitDeleteBranch', { path, branch: 'side' })).toMatchObject({ deleted: true });
    await ok('DeleteFile', { path, recursive: true });
  } finally {
    await remote.close();
  }
};
