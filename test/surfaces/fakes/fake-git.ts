/** A repository in memory, as much as a surface can tell apart. What git really does is tested with a real one. */
import type { GitService } from '../../../src/control/git/git-service.ts';

/** The public face of a class: a fake cannot have its private fields. */
type Face<T> = Pick<T, keyof T>;

const origin = { remote: 'origin', url: 'https://example.org/project.git' };
const SHA = '0123456789abcdef0123456789abcdef01234567';

export function fakeGit(): Face<GitService> {
  return {
    load: { total: 0, refused: 0 },
    clone: async (_place, _request, { onProgress }) => {
      onProgress?.({ message: 'Cloning' });
      return { branch: 'main', sha: SHA };
    },
    status: async () => ({
      branch: 'main',
      staged: ['a'],
      modified: ['b'],
      untracked: ['c'],
      conflicted: ['d'],
      ahead: 1,
      behind: 2,
      upstream: 'origin/main',
      unborn: false,
      truncated: false,
    }),
    add: async (_at, files) => ({ added: files, addedCount: files.length, truncated: false }),
    commit: async () => ({ sha: SHA, branch: 'main' }),
    branches: async () => ({
      branches: [{ name: 'main', current: true }],
      current: 'main',
      unborn: false,
      truncated: false,
    }),
    checkout: async (_at, ref) => ({ branch: ref, created: false }),
    createBranch: async () => ({}),
    deleteBranch: async () => ({}),
    log: async () => ({
      commits: [{ hash: SHA, author: 'Ada', email: 'ada@example.org', date: 0, message: 'first' }],
      truncated: false,
    }),
    pull: async () => ({ branch: 'main', updated: true, sha: SHA, ...origin }),
    push: async (_at, { branch = 'main' }) => ({ branch, ...origin }),
  };
}
