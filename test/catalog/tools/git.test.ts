import { describe, expect, it } from 'vitest';
import { callWith, progress, signal, user } from './call-with.ts';

const at = { caller: user, sandbox: 'box', path: 'repo' };
const place = { sandbox: 'box', path: 'repo' };
const options = { signal, onProgress: progress };

describe('branches', () => {
  it('GitCreateBranch makes the branch from its start, and switches to it', async () => {
    const given = { ...place, branch: 'new', start_point: 'v1' };
    const { result, asked } = await callWith('GitCreateBranch', given, 'git.createBranch', {});
    expect(asked).toEqual([at, { name: 'new', parameter: 'branch', start: 'v1' }, options]);
    expect(result).toEqual({ branch: 'new', switched: true });
  });

  it('GitDeleteBranch forces nothing unless asked', async () => {
    const { result, asked } = await callWith(
      ...(['GitDeleteBranch', { ...place, branch: 'old' }, 'git.deleteBranch', {}] as const),
    );
    expect(asked).toEqual([at, { branch: 'old', force: false }, options]);
    expect(result).toEqual({ branch: 'old', deleted: true });
  });

  it('GitCheckout makes a branch only with create_new_branch', async () => {
    const answer = { branch: 'main', created: false };
    const old = await callWith('GitCheckout', { ...place, ref: 'main' }, 'git.checkout', answer);
    expect(old.asked).toEqual([at, 'main', options]);
    expect(old.result).toEqual({ ref: 'main', branch: 'main', created: false });
    const given = { ...place, ref: 'new', create_new_branch: true, start_point: 'v1' };
    const made = await callWith('GitCheckout', given, 'git.createBranch', {});
    expect(made.asked).toEqual([at, { name: 'new', parameter: 'ref', start: 'v1' }, options]);
    expect(made.result).toEqual({ ref: 'new', branch: 'new', created: true });
  });

  it('GitCheckout refuses a new branch whose name is none', async () => {
    const given = { ...place, ref: 'HEAD~1', create_new_branch: true };
    await expect(callWith('GitCheckout', given, 'git.createBranch', {})).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'ref' },
    });
  });
});

describe('commits', () => {
  it('GitAdd names twenty paths at most, and counts the others', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);
    const textOf = async (count: number, truncated = false) => {
      const answer = { added: names(count), addedCount: count, truncated };
      return (await callWith('GitAdd', { ...place, files: ['.'] }, 'git.add', answer)).text;
    };
    expect(await textOf(0)).toBe('Staged: 0.');
    expect(await textOf(20)).toBe(`Staged: 20 (${names(20).join(', ')}).`);
    expect(await textOf(21, true)).toBe(
      `Staged: 21 (${names(20).join(', ')}, and 1 more). The list of them is truncated.`,
    );
  });

  it('GitCommit passes its author', async () => {
    const author = { author_name: 'Ada', author_email: 'ada@example.org' };
    const given = { ...place, message: 'm', ...author };
    const { asked } = await callWith('GitCommit', given, 'git.commit', { sha: 'a', branch: null });
    expect(asked[1]).toEqual({ message: 'm', authorName: 'Ada', authorEmail: 'ada@example.org' });
  });

  it('GitLog passes its branch', async () => {
    const answer = { commits: [], truncated: false };
    const { asked } = await callWith('GitLog', { ...place, branch: 'main' }, 'git.log', answer);
    expect(asked[1]).toMatchObject({ branch: 'main' });
  });
});

describe('remotes', () => {
  it('GitClone passes the branch, the commit and the credentials', async () => {
    const given = {
      ...{ url: 'https://example.org/a/project.git', sandbox: 'box', branch: 'main', commit_id: 'abcd' },
      ...{ username: 'ada', password: 'secret' },
    };
    const answer = { branch: 'main', sha: 'abcd' };
    const { asked, result } = await callWith('GitClone', given, 'git.clone', answer);
    expect(asked).toMatchObject([
      { caller: user, sandbox: 'box' },
      { path: 'project', branch: 'main', commitId: 'abcd', username: 'ada', password: 'secret' },
      options,
    ]);
    expect(result).toEqual({ path: 'project', branch: 'main', sha: 'abcd' });
  });

  it('GitClone asks for a path where the URL ends in no name', async () => {
    const url = '/.git';
    await expect(callWith('GitClone', { url }, 'git.clone', {})).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'path' },
    });
  });

  it('GitPush passes the branch and force', async () => {
    const answer = { branch: 'main', remote: 'origin', url: 'u' };
    const given = { ...place, branch: 'main', force: true };
    const { asked, result } = await callWith('GitPush', given, 'git.push', answer);
    expect(asked[1]).toEqual({ branch: 'main', force: true });
    expect(result).toEqual({ ...answer, pushed: true });
  });
});
