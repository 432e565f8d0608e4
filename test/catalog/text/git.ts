/** Results of the Git tools. */
import type { Samples } from './sample.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const origin = { remote: 'origin', url: 'https://example.org/project.git' };
const remote = { remote: 'origin', url: '(https://example.org/project.git)' };

/** Where path was left out. */
const repository = '/workspace/r';
const found = { repository: ' Repository: /workspace/r.' };

export const gitSamples: Samples = {
  'Sandbox.GitClone': [
    {
      result: { path: '/workspace/project', branch: 'main', sha: SHA },
      says: { path: '/workspace/project', branch: 'main', sha: SHA },
    },
    { result: { path: 'p', branch: null, sha: SHA }, says: { branch: 'detached' } },
    { result: { path: 'p', branch: 'main', sha: null }, says: { sha: 'no commit yet' } },
  ],
  'Sandbox.GitAdd': [
    {
      result: { added: ['a.txt', 'b c.txt'], added_count: 2, truncated: false },
      says: { added: 'a.txt, b c.txt', added_count: /^Staged: 2 / },
    },
    {
      result: { added: Array(200).fill('a'), added_count: 5000, truncated: true, repository },
      says: { ...found, added_count: 'Staged: 5000', added: /and \d+ more/, truncated: 'truncated' },
    },
  ],
  'Sandbox.GitCommit': [
    { result: { sha: SHA, branch: 'main' }, says: { sha: SHA, branch: 'on main' } },
    { result: { sha: SHA, branch: null, repository }, says: { ...found, branch: 'on no branch' } },
  ],
  'Sandbox.GitCheckout': [
    {
      result: { ref: 'main', branch: 'main', created: false, repository },
      says: { ...found, branch: /^On branch main\./ },
    },
    {
      result: { ref: 'next', branch: 'next', created: true },
      says: { created: /^On the new branch next\.$/, ref: 'next' },
    },
    {
      result: { ref: 'v1', branch: null, created: false },
      says: { ref: 'HEAD is at v1', branch: 'no branch' },
    },
  ],
  'Sandbox.GitCreateBranch': [
    {
      result: { branch: 'next', switched: true, repository },
      says: { ...found, branch: 'branch next', switched: 'Switched to the new branch' },
    },
  ],
  'Sandbox.GitDeleteBranch': [
    {
      result: { branch: 'old', deleted: true, repository },
      says: { ...found, branch: 'branch old', deleted: 'Deleted' },
    },
  ],
  'Sandbox.GitPull': [
    {
      result: { branch: 'main', updated: true, sha: SHA, ...origin },
      says: { branch: 'main', updated: 'is now at', sha: SHA, ...remote },
    },
    {
      result: { branch: 'main', updated: false, sha: SHA, ...origin, repository },
      says: { ...found, updated: 'was already at' },
    },
  ],
  'Sandbox.GitPush': [
    {
      result: { branch: 'main', pushed: true, ...origin, repository },
      says: { ...found, branch: 'main', pushed: 'Pushed', ...remote },
    },
  ],
};
