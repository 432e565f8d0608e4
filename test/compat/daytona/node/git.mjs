/** Git, with a repository inside the sandbox as the remote one. */
import assert from 'node:assert/strict';
import { rejection, step } from './steps.mjs';

const origin = 'file:///home/daytona/origin.git';
const author = ['Ann', 'ann@example.org'];

export const gitSteps = [
  step('git: clones', async ({ sandbox: { git, process } }) => {
    const made = await process.executeCommand(
      'set -e; git init -q -b main seed; cd seed; git config user.name Ann; git config user.email ann@example.org; ' +
        'echo one >one.txt; git add .; git commit -qm first; git branch other; git clone -q --bare . ../origin.git',
    );
    assert.equal(made.exitCode, 0, made.result);
    await git.clone(origin, 'work');
    await git.clone(origin, 'work-other', 'other');
    assert.equal((await git.status('work')).currentBranch, 'main');
    assert.equal((await git.status('work-other')).currentBranch, 'other');
  }),
  step('git: shows what has changed', async ({ sandbox: { git, fs } }) => {
    await fs.uploadFile(Buffer.from('two\n'), 'work/two.txt');
    await fs.uploadFile(Buffer.from('changed\n'), 'work/one.txt');
    const { fileStatus } = await git.status('work');
    assert.deepEqual(fileStatus.map(({ name, worktree }) => [name, worktree]).toSorted(), [
      ['one.txt', 'Modified'],
      ['two.txt', 'Untracked'],
    ]);
  }),
  step('git: adds and commits', async ({ sandbox: { git, process } }) => {
    await git.add('work', ['one.txt', 'two.txt']);
    assert.deepEqual(
      (await git.status('work')).fileStatus.map(({ name, staging }) => [name, staging]).toSorted(),
      [
        ['one.txt', 'Modified'],
        ['two.txt', 'Added'],
      ],
    );
    const { sha } = await git.commit('work', 'second', ...author);
    const { result } = await process.executeCommand("git log -1 --format='%H %an %ae %s'", 'work');
    assert.equal(result.trim(), `${sha} Ann ann@example.org second`);
    assert.equal((await git.status('work')).ahead, 1);
  }),
  step('git: makes, lists, takes and deletes branches', async ({ sandbox: { git } }) => {
    await git.createBranch('work', 'feature');
    assert.ok((await git.branches('work')).branches.includes('feature'));
    await git.checkoutBranch('work', 'feature');
    assert.equal((await git.status('work')).currentBranch, 'feature');
    await git.checkoutBranch('work', 'main');
    await git.deleteBranch('work', 'feature');
    assert.ok(!(await git.branches('work')).branches.includes('feature'));
  }),
  step('git: pushes and pulls', async ({ sandbox: { git, process } }) => {
    await git.push('work');
    await git.clone(origin, 'work-second');
    const made = await process.executeCommand(
      'git config user.name Bob; git config user.email bob@example.org; echo three >three.txt; git add .; ' +
        'git commit -qm third && git push -q',
      'work-second',
    );
    assert.equal(made.exitCode, 0, made.result);
    await git.pull('work');
    const { result } = await process.executeCommand('cat three.txt', 'work');
    assert.equal(result.trim(), 'three');
  }),
  step(
    'git: begins a repository, with its own author and remote',
    async ({ sandbox: { git, fs } }) => {
      await git.init('begun', false, 'trunk');
      await git.configureUser('Eve', 'eve@example.org', 'local', 'begun');
      assert.equal(await git.getConfig('user.name', 'local', 'begun'), 'Eve');
      await git.setConfig('core.compat', 'set', 'local', 'begun');
      assert.equal(await git.getConfig('core.compat', 'local', 'begun'), 'set');
      await git.remoteAdd('begun', 'origin', origin);
      assert.equal(await git.remoteGet('begun', 'origin'), origin);
      assert.deepEqual(
        (await git.remotes('begun')).remotes.map(({ name }) => name),
        ['origin'],
      );
      await fs.uploadFile(Buffer.from('one\n'), 'begun/one.txt');
      await git.add('begun', ['one.txt']);
      await git.commit('begun', 'first', ...author);
      assert.equal((await git.status('begun')).currentBranch, 'trunk');
    },
    '0.218',
  ),
  step(
    'git: resets and restores',
    async ({ sandbox: { git, fs } }) => {
      await fs.uploadFile(Buffer.from('changed\n'), 'begun/one.txt');
      await git.add('begun', ['one.txt']);
      await git.reset('begun', 'mixed', 'HEAD');
      await git.restore('begun', ['one.txt']);
      assert.equal(String(await fs.downloadFile('begun/one.txt')), 'one\n');
      assert.deepEqual((await git.status('begun')).fileStatus, []);
    },
    '0.218',
  ),
  step('errors: a folder without a repository is refused', async ({ sdk, sandbox: { git } }) => {
    const error = await rejection(git.status('/tmp'));
    assert.ok(error instanceof sdk.DaytonaError, `${error.name}: ${error.message}`);
    assert.ok(error.statusCode >= 400 && error.statusCode < 500, String(error.statusCode));
  }),
];
