/** Git in a sandbox without any remote: what is staged, committed, branched, and what is said when it cannot be. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsOf } from '../../support/calls.ts';
import { must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';
import type { Parameters } from '../../support/transports.ts';

const author = { author_name: 'Ada L.', author_email: 'ada@example.org' };
let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  await must(service, 'CreateSandbox', { name: 'box' });
}, 120_000);

afterAll(() => service?.stop());

const { ok, refused, run } = callsOf(() => service);

let count = 0;
/** A repository with one commit of these files. */
async function repository(files: Record<string, string> = { a: 'a\n' }): Promise<string> {
  const path = `repo-${++count}`;
  await run(`git init -q -b main ${path}`);
  for (const [name, content] of Object.entries(files)) {
    await ok('WriteFile', { path: `${path}/${name}`, content });
  }
  if (Object.keys(files).length > 0) {
    await ok('GitAdd', { path, files: ['.'] });
    await ok('GitCommit', { path, message: 'first', ...author });
  }
  return path;
}

it('[SBX-GIT-07, WIRE-GIT-02] a status distinguishes staged, modified and untracked files', async () => {
  const path = await repository({ a: 'a\n', b: 'b\n', c: 'c\n', '.gitignore': 'ignored\n' });
  await run(
    `cd ${path} && echo 2 >> a && git add a && echo 3 >> a && echo 2 >> b && git mv c d && mkdir n && touch n/x ignored`,
  );
  expect(await ok('GitStatus', { path })).toEqual({
    branch: 'main',
    staged: ['a', 'c', 'd'],
    modified: ['a', 'b'],
    untracked: ['n/x'],
    conflicted: [],
    ahead: 0,
    behind: 0,
    upstream: null,
    unborn: false,
    truncated: false,
  });
});

describe('staging', () => {
  it('[SBX-GIT-08, WIRE-GIT-04] takes the files that are named, and returns those that are staged', async () => {
    const path = await repository({ a: 'a\n', 'dir/b': 'b\n', c: 'c\n' });
    await run(`cd ${path} && echo 2 >> a && echo 2 >> dir/b && rm c && echo new > 'with space'`);
    expect(await ok('GitAdd', { path, files: ['a', 'dir', 'c'] })).toEqual({
      added: ['a', 'c', 'dir/b'],
      added_count: 3,
      truncated: false,
    });
    expect(await ok('GitStatus', { path })).toMatchObject({
      staged: ['a', 'c', 'dir/b'],
      modified: [],
      untracked: ['with space'],
    });
  });

  it('[SBX-GIT-08] ["."] stages everything: deletions, new folders, from a folder below too', async () => {
    const path = await repository({ a: 'a\n', 'dir/b': 'b\n' });
    await run(`cd ${path} && rm a && mkdir -p x/y && echo 1 > x/y/z && echo 2 >> dir/b`);
    expect(await ok('GitAdd', { path: `${path}/dir`, files: ['.'] })).toMatchObject({
      added: ['a', 'dir/b', 'x/y/z'],
    });
  });

  it('[SBX-GIT-24] works in the folder that is given, in the only sandbox there is, /workspace by default', async () => {
    expect(await refused('GitStatus', {})).toMatchObject({ code: 'failed_precondition', parameter: 'path' });
    await run('git init -q -b main /tmp/deep && mkdir /tmp/deep/below && touch /tmp/deep/below/file');
    expect(await ok('GitStatus', { path: '/tmp/deep/below', sandbox: 'box' })).toMatchObject({
      untracked: ['below/file'],
    });
  });

  it('takes names literally, whatever they look like', async () => {
    const path = await repository({ a: 'a\n' });
    const names = ['*', ':(top)x', '-n', '--all', 'line\nend', '"quoted"', 'é', "it's", '!x', '#'];
    for (const name of names) await ok('WriteFile', { path: `${path}/${name}`, content: '' });
    await ok('WriteFile', { path: `${path}/other`, content: '' });
    for (const name of names) {
      expect(await ok('GitAdd', { path, files: [name] }), name).toMatchObject({ added: [name] });
    }
    expect(await ok('GitStatus', { path })).toMatchObject({
      staged: names.toSorted(byBytes),
      untracked: ['other'],
    });
  });

  it('[WIRE-FILES-24] takes and gives names that are not UTF-8', async () => {
    const path = await repository({ a: 'a\n' });
    await run(`cd ${path} && touch "$(printf 'b\\377ad')" "$(printf '\\303\\050')"`);
    const names = ['b\uf7ffad', '\uf7c3('];
    const { untracked } = await ok('GitStatus', { path });
    expect(new Set(untracked as string[])).toEqual(new Set(names));
    expect(await ok('GitAdd', { path, files: [names[0]] })).toMatchObject({ added: [names[0]] });
    expect(await ok('GitStatus', { path })).toMatchObject({ staged: [names[0]], untracked: [names[1]] });
  });

  it('works in a repository whose own name is not UTF-8', async () => {
    await run(`git init -q -b main "$(printf 'r\\377')" && touch "$(printf 'r\\377')/x"`);
    expect(await ok('GitAdd', { path: 'r\uf7ff', files: ['x'] })).toMatchObject({ added: ['x'] });
  });

  it('names the files that are not there, and those that are ignored', async () => {
    const path = await repository({ a: 'a\n', '.gitignore': 'secret\n' });
    expect(await refused('GitAdd', { path, files: ['a', 'nothing'] })).toMatchObject({
      code: 'not_found',
      parameter: 'files',
      detail: expect.stringContaining("'nothing'"),
    });
    await run(`touch ${path}/secret`);
    expect(await refused('GitAdd', { path, files: ['secret'] })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('ignored'),
    });
  });

  it('leaves nothing behind of the lists that it makes', async () => {
    expect(await run('ls -a /tmp | grep -c sandhaven-git || true')).toBe('0\n');
  });
});

describe('committing', () => {
  it('[SBX-GIT-09, WIRE-GIT-05] gives the sha, and keeps the message to the last byte', async () => {
    const path = await repository();
    const message = '  # not a comment\n\n\n\ttrailing  \n\nno end: é "quoted" $(id) `id`';
    await run(`echo 2 >> ${path}/a`);
    await ok('GitAdd', { path, files: ['a'] });
    const { sha, branch } = await ok('GitCommit', { path, message, ...author });
    expect(branch).toBe('main');
    expect((await run(`git -C ${path} rev-parse HEAD`)).trim()).toBe(sha);
    expect(await run(`git -C ${path} cat-file commit HEAD | sed '1,/^$/d'`)).toBe(message);
    expect(await run(`git -C ${path} log -1 --format='%an|%ae|%cn|%ce'`)).toBe(
      'Ada L.|ada@example.org|Ada L.|ada@example.org\n',
    );
  });

  it('[SBX-GIT-10] takes the author from the sandbox’s git configuration, and fails when there is none', async () => {
    const path = await repository();
    await run(`echo 2 >> ${path}/a`);
    await ok('GitAdd', { path, files: ['a'] });
    expect(await refused('GitCommit', { path, message: 'x' })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('author_name'),
    });
    expect(await refused('GitCommit', { path, message: 'x', author_name: 'Only' })).toMatchObject({
      code: 'failed_precondition',
    });
    await run(`git -C ${path} config user.name Conf && git -C ${path} config user.email conf@example.org`);
    await ok('GitCommit', { path, message: 'x' });
    expect(await run(`git -C ${path} log -1 --format='%an|%ae'`)).toBe('Conf|conf@example.org\n');
  });

  it('[SBX-GIT-11] is refused with nothing staged', async () => {
    const path = await repository();
    await run(`echo 2 >> ${path}/a`);
    expect(await refused('GitCommit', { path, message: 'x', ...author })).toMatchObject({
      code: 'failed_precondition',
      detail: 'Nothing is staged.',
      hint: expect.stringContaining('GitAdd'),
    });
  });

  it.each([
    [{ message: '' }, 'message'],
    [{ message: ' \n\t ' }, 'message'],
    [{ message: 'x', author_name: 'a\nb' }, 'author_name'],
    [{ message: 'x', author_name: '<>' }, 'author_name'],
    [{ message: 'x', author_email: 'a@b>' }, 'author_email'],
  ])('%j is refused before anything runs', async (parameters, parameter) => {
    expect(await refused('GitCommit', parameters)).toMatchObject({ code: 'invalid_argument', parameter });
  });

  it('is refused by a hook, in the words of the hook', async () => {
    const path = await repository();
    await run(`cd ${path} && printf '#!/bin/sh\\necho no such luck >&2; exit 1\\n' > .git/hooks/pre-commit &&
      chmod +x .git/hooks/pre-commit && echo 2 >> a`);
    await ok('GitAdd', { path, files: ['a'] });
    expect(await refused('GitCommit', { path, message: 'x', ...author })).toMatchObject({
      code: 'failed_precondition',
      detail: expect.stringContaining('no such luck'),
    });
    expect(await run(`ls -a /tmp | grep -c sandhaven-git || true`)).toBe('0\n');
  });

  it('works on a detached HEAD, which shows no branch', async () => {
    const path = await repository();
    await run(`cd ${path} && git checkout -q --detach && echo 2 >> a`);
    await ok('GitAdd', { path, files: ['a'] });
    expect(await ok('GitCommit', { path, message: 'x', ...author })).toMatchObject({ branch: null });
    expect(await ok('GitStatus', { path })).toMatchObject({ branch: null, ahead: 0, behind: 0 });
    expect(await ok('GitBranches', { path })).toMatchObject({ current: null });
  });
});

describe('branches', () => {
  it('[SBX-GIT-12, WIRE-GIT-06] are listed, with the current one', async () => {
    const path = await repository();
    await run(`git -C ${path} branch -q feature/x && git -C ${path} branch -q é`);
    expect(await ok('GitBranches', { path })).toEqual({
      branches: [
        { name: 'feature/x', current: false },
        { name: 'main', current: true },
        { name: 'é', current: false },
      ],
      current: 'main',
      unborn: false,
      truncated: false,
    });
  });

  it('[SBX-GIT-13, WIRE-GIT-07] are switched to, and tags and commits too', async () => {
    const path = await repository();
    const sha = (await run(`cd ${path} && git branch other && git tag v1 && git rev-parse HEAD`)).trim();
    expect(await ok('GitCheckout', { path, ref: 'other' })).toEqual({
      ref: 'other',
      branch: 'other',
      created: false,
    });
    for (const ref of ['v1', sha, sha.slice(0, 8), 'main~0']) {
      expect(await ok('GitCheckout', { path, ref })).toEqual({ ref, branch: null, created: false });
    }
    expect(await refused('GitCheckout', { path, ref: 'nothing' })).toMatchObject({
      code: 'not_found',
      resource: 'ref',
      parameter: 'ref',
    });
    // Never a file of that name.
    expect(await refused('GitCheckout', { path, ref: 'a' })).toMatchObject({ code: 'not_found' });
  });

  it('[SBX-GIT-14, SBX-GIT-15] are made by GitCheckout with create_new_branch, at HEAD or start_point', async () => {
    const path = await repository();
    await run(
      `cd ${path} && git tag v1 && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m 2`,
    );
    const head = (await run(`git -C ${path} rev-parse HEAD`)).trim();
    const first = (await run(`git -C ${path} rev-parse v1`)).trim();
    expect(await ok('GitCheckout', { path, ref: 'new', create_new_branch: true })).toEqual({
      ref: 'new',
      branch: 'new',
      created: true,
    });
    expect((await run(`git -C ${path} rev-parse new`)).trim()).toBe(head);
    await ok('GitCheckout', { path, ref: 'old', create_new_branch: true, start_point: 'v1' });
    expect((await run(`git -C ${path} rev-parse HEAD`)).trim()).toBe(first);
    // Without create_new_branch a start_point means nothing.
    await ok('GitCheckout', { path, ref: 'new', start_point: 'v1' });
    expect((await run(`git -C ${path} rev-parse HEAD`)).trim()).toBe(head);
    expect(await refused('GitCheckout', { path, ref: 'new', create_new_branch: true })).toMatchObject({
      code: 'already_exists',
      parameter: 'ref',
    });
    expect(
      await refused('GitCheckout', { path, ref: 'x', create_new_branch: true, start_point: 'nothing' }),
    ).toMatchObject({ code: 'not_found', parameter: 'start_point' });
  });

  it('[SBX-GIT-16, WIRE-GIT-08] are made by GitCreateBranch too', async () => {
    const path = await repository();
    expect(await ok('GitCreateBranch', { path, branch: 'b' })).toEqual({ branch: 'b', switched: true });
    expect(await ok('GitBranches', { path })).toMatchObject({ current: 'b' });
    await ok('GitCreateBranch', { path, branch: 'c', start_point: 'main' });
    expect(await refused('GitCreateBranch', { path, branch: 'b' })).toMatchObject({
      code: 'already_exists',
      parameter: 'branch',
    });
  });

  it('[SBX-GIT-17, SBX-GIT-18, WIRE-GIT-09] are deleted: not the current one, unmerged ones by force', async () => {
    const path = await repository();
    await run(`cd ${path} && git branch merged && git checkout -q -b wild &&
      git -c user.name=x -c user.email=x@y commit -q --allow-empty -m 2 && git checkout -q main`);
    expect(await ok('GitDeleteBranch', { path, branch: 'merged' })).toEqual({
      branch: 'merged',
      deleted: true,
    });
    expect(await refused('GitDeleteBranch', { path, branch: 'main' })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('GitCheckout'),
    });
    expect(await refused('GitDeleteBranch', { path, branch: 'wild' })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('force'),
    });
    await ok('GitDeleteBranch', { path, branch: 'wild', force: true });
    expect(await refused('GitDeleteBranch', { path, branch: 'wild' })).toMatchObject({
      code: 'not_found',
      resource: 'branch',
    });
  });

  it('are not switched under local changes that would be lost', async () => {
    const path = await repository();
    await run(`cd ${path} && git checkout -q -b other && echo other > a &&
      git -c user.name=x -c user.email=x@y commit -qam 2 && git checkout -q main && echo mine > a`);
    expect(await refused('GitCheckout', { path, ref: 'other' })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('commit'),
    });
    expect(await run(`cat ${path}/a`)).toBe('mine\n');
  });

  it.each([
    ['GitCheckout', { ref: '--orphan' }],
    ['GitCheckout', { ref: '-' }],
    ['GitCheckout', { ref: 'x', start_point: '--orphan', create_new_branch: true }],
    ['GitCheckout', { ref: 'a b', create_new_branch: true }],
    ['GitCreateBranch', { branch: '-D' }],
    ['GitCreateBranch', { branch: 'x', start_point: '-f' }],
    ['GitDeleteBranch', { branch: '-r' }],
    ['GitDeleteBranch', { branch: '--all' }],
    ['GitLog', { branch: '--output=/tmp/smuggled' }],
    ['GitLog', { branch: '-1' }],
    ['GitPull', { branch: '--upload-pack=touch /tmp/smuggled' }],
    ['GitPush', { branch: '--receive-pack=touch /tmp/smuggled' }],
    ['GitPush', { branch: 'a:b' }],
    ['GitClone', { url: 'https://example.org/a', branch: '--upload-pack=touch /tmp/smuggled' }],
    ['GitClone', { url: 'https://example.org/a', commit_id: '--all' }],
    ['GitClone', { url: '--upload-pack=touch /tmp/smuggled' }],
    ['GitClone', { url: 'ext::sh -c touch% /tmp/smuggled' }],
    ['GitClone', { url: 'file://example.org/etc' }],
    ['GitClone', { url: 'repo-1' }],
    ['GitClone', { url: '/' }],
  ])('%s refuses %j, and nothing runs', async (tool, parameters) => {
    const body = await refused(tool, parameters);
    expect(body).toMatchObject({ code: 'invalid_argument' });
    expect(await run('ls /tmp/smuggled 2>/dev/null | wc -l')).toBe('0\n');
  });
});

describe('history', () => {
  it('[SBX-GIT-19, SBX-GIT-20, WIRE-GIT-10] is returned newest first, of the current branch, twenty by default', async () => {
    const path = await repository();
    await run(`cd ${path} && for n in $(seq 25); do GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@d GIT_AUTHOR_NAME='Ada "L" É' \
      GIT_AUTHOR_EMAIL=a@b GIT_AUTHOR_DATE='2024-02-03T04:05:06+02:00' git commit -q --allow-empty -m "$n" -m body; done`);
    const { commits } = (await ok('GitLog', { path })) as { commits: Parameters[] };
    expect(commits).toHaveLength(20);
    expect(commits[0]).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      author: 'Ada "L" É',
      email: 'a@b',
      date: '2024-02-03T02:05:06.000Z',
      message: '25\n\nbody',
    });
    expect(((await ok('GitLog', { path, max_count: 2 })) as { commits: unknown[] }).commits).toHaveLength(2);
    await run(`git -C ${path} branch old HEAD~24`);
    const old = (await ok('GitLog', { path, branch: 'old' })) as { commits: Parameters[] };
    expect(old.commits.map(({ message }) => message)).toEqual(['1\n\nbody', 'first']);
    expect(await refused('GitLog', { path, branch: 'nothing' })).toMatchObject({
      code: 'not_found',
      parameter: 'branch',
    });
  });

  it('[WIRE-GIT-10] of a repository without commits is empty, and everything else works there', async () => {
    const path = await repository({});
    expect(await ok('GitLog', { path })).toEqual({ commits: [], truncated: false });
    expect(await ok('GitLog', { path, branch: 'main' })).toEqual({ commits: [], truncated: false });
    expect(await ok('GitBranches', { path })).toEqual({
      branches: [],
      current: 'main',
      unborn: true,
      truncated: false,
    });
    expect(await ok('GitStatus', { path })).toMatchObject({ branch: 'main', staged: [] });
    expect(await refused('GitPush', { path })).toMatchObject({ code: 'failed_precondition' });
    expect(await refused('GitCommit', { path, message: 'x', ...author })).toMatchObject({
      detail: 'Nothing is staged.',
    });
    await ok('GitCreateBranch', { path, branch: 'trunk' });
    await run(`touch ${path}/x`);
    await ok('GitAdd', { path, files: ['x'] });
    expect(await ok('GitCommit', { path, message: 'x', ...author })).toMatchObject({ branch: 'trunk' });
  });
});

describe('a folder that is no repository', () => {
  const tools: [string, Parameters][] = [
    ['GitStatus', {}],
    ['GitAdd', { files: ['.'] }],
    ['GitCommit', { message: 'x', ...author }],
    ['GitBranches', {}],
    ['GitCheckout', { ref: 'x' }],
    ['GitCreateBranch', { branch: 'x' }],
    ['GitDeleteBranch', { branch: 'x' }],
    ['GitLog', {}],
    ['GitPull', {}],
    ['GitPush', {}],
  ];

  it.each(tools)('is refused by %s, with advice', async (tool, parameters) => {
    await run('mkdir -p plain');
    expect(await refused(tool, { ...parameters, path: 'plain' })).toMatchObject({
      code: 'failed_precondition',
      parameter: 'path',
      hint: expect.stringContaining('GitClone'),
    });
    expect(await refused(tool, { ...parameters, path: 'nowhere' })).toMatchObject({ code: 'not_found' });
  });
});

it('an image without git gets an error with advice', async () => {
  await run('mv /usr/bin/git /usr/bin/git.away');
  try {
    expect(await refused('GitStatus', { path: 'repo-1' })).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('apt-get'),
    });
  } finally {
    await run('mv /usr/bin/git.away /usr/bin/git');
  }
});

it('ten thousand files are listed, staged and committed', async () => {
  const path = await repository();
  await run(
    `cd ${path} && mkdir -p many && for d in $(seq 100); do mkdir many/$d && (cd many/$d && touch $(seq 100)); done`,
  );
  expect(((await ok('GitStatus', { path })) as { untracked: unknown[] }).untracked).toHaveLength(10_000);
  expect(((await ok('GitAdd', { path, files: ['.'] })) as { added: unknown[] }).added).toHaveLength(10_000);
  await ok('GitCommit', { path, message: 'many', ...author });
  expect(await ok('GitStatus', { path })).toMatchObject({ staged: [], untracked: [] });
}, 120_000);

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
