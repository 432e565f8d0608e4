/** The project's own bounds of Git tools. */
import { addition } from '../notation.ts';
import { path, reference } from './common.ts';

const repository = { sandbox: reference, path };

/** By the rules of `git check-ref-format`. */
const branch = {
  minChars: 1,
  maxBytes: 244,
  takes: ['main', 'feature/a-b_c.d', 'ä'],
  refuses: [
    ...'-x @ HEAD a~b a^b a:b a?b a*b a[b a\\b a..b a@{b a. /a a/ a//b .a a.lock'.split(' '),
    ...['a b', 'a\nb'],
  ],
};

/** A branch, a tag, a hash or an expression. */
const revision = {
  minChars: 1,
  maxBytes: 244,
  takes: ['main', 'v1.0', 'HEAD~2', 'main^'],
  refuses: ['-x', 'a b', 'a..b', 'a:b', 'a\nb'],
};

const identity = { minChars: 1, maxChars: 256, takes: ['Ada'], refuses: ['a<b', 'a>b', 'a\nb', '...'] };

export const gitAdditions = [
  addition('Sandbox.GitClone', {
    url: { minChars: 1, maxChars: 2_048, beginning: 'https://example.org/project' },
    ...repository,
    branch,
    commit_id: {
      pattern: '^[0-9a-fA-F]{4,64}$',
      takes: ['0aF9', 'f'.repeat(64)],
      refuses: ['', 'fff', 'f'.repeat(65), 'main', 'fffg'],
    },
    username: { minChars: 1, maxChars: 256, refuses: ['a:b', 'a\nb'] },
    password: { maxChars: 8_192, refuses: ['a\nb'] },
  }),
  addition('Sandbox.GitStatus', repository),
  addition('Sandbox.GitAdd', { files: { minItems: 1, maxItems: 1_000, items: path }, ...repository }),
  addition('Sandbox.GitCommit', {
    // 1 MiB.
    message: { maxBytes: 1_048_576, refuses: ['', ' \n'] },
    ...repository,
    author_name: identity,
    author_email: identity,
  }),
  addition('Sandbox.GitBranches', repository),
  addition('Sandbox.GitCheckout', { ref: revision, ...repository, start_point: revision }),
  addition('Sandbox.GitCreateBranch', { branch, ...repository, start_point: revision }),
  addition('Sandbox.GitDeleteBranch', { branch, ...repository }),
  addition('Sandbox.GitLog', {
    ...repository,
    max_count: { min: 1, max: 2_147_483_647 },
    branch: revision,
  }),
  addition('Sandbox.GitPull', { ...repository, branch }),
  addition('Sandbox.GitPush', { ...repository, branch }),
];
