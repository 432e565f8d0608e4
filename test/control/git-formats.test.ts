/** Git's machine formats: what they say, and that nothing from inside a sandbox breaks their reading. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BRANCH_FORMAT,
  LOG_FORMAT,
  nulSeparated,
  parseBranches,
  parseConfig,
  parseLog,
  parsePush,
  parseStatus,
} from '../../src/control/git/formats.ts';
import { SandhavenError } from '../../src/model/errors.ts';

const MOST_PATHS = 20_000;

const nul = (...parts: string[]) => Buffer.from(parts.map((part) => `${part}\0`).join(''));
const hash = '0'.repeat(40);

describe('a status', () => {
  it('distinguishes staged, modified, both, untracked and conflicted files', () => {
    const bytes = nul(
      `# branch.oid ${hash}`,
      '# branch.head feature/x',
      '# branch.upstream origin/feature/x',
      '# branch.ab +2 -11',
      `1 A. N... 000000 100644 100644 ${hash} ${hash} new file`,
      `1 .M N... 100644 100644 100644 ${hash} ${hash} changed`,
      `1 MD N... 100644 100644 000000 ${hash} ${hash} both`,
      `u UU N... 100644 100644 100644 100644 ${hash} ${hash} ${hash} a b c`,
      '? untracked\nline',
      '! ignored',
    );
    expect(parseStatus(bytes, false)).toEqual({
      branch: 'feature/x',
      staged: ['new file', 'both'],
      modified: ['changed', 'both'],
      untracked: ['untracked\nline'],
      conflicted: ['a b c'],
      ahead: 2,
      behind: 11,
      upstream: 'origin/feature/x',
      unborn: false,
      truncated: false,
    });
  });

  it('[WIRE-GIT-03] has no branch on a detached HEAD, and counts nothing without an upstream', () => {
    expect(parseStatus(nul('# branch.head (detached)'), false)).toMatchObject({
      branch: null,
      ahead: 0,
      behind: 0,
    });
  });

  it('is of a branch without a commit when git reports one', () => {
    const unborn = nul('# branch.oid (initial)', '# branch.head main');
    expect(parseStatus(unborn, false)).toMatchObject({ branch: 'main', unborn: true, upstream: null });
    expect(parseStatus(nul(`# branch.oid ${hash}`), false).unborn).toBe(false);
  });

  it('takes nothing from a header that only looks like one', () => {
    const odd = nul(
      '# x branch.head a',
      '# x branch.upstream a',
      '# branch.ab +1 -1x',
      '# x branch.ab +1 -1',
      '# branch.ab +1234567890 -1',
      '# branch.ab +1 -1234567890',
      '# stash 3',
    );
    expect(parseStatus(odd, false)).toMatchObject({ branch: null, upstream: null, ahead: 0, behind: 0 });
  });

  it.each(['2 R. x', '', 'x', '1 .M N... 100644', 'u UU N... 1 2 3 4 a b path'])(
    'is unreadable with the entry %j',
    (entry) => {
      expect(() => parseStatus(nul(entry), false)).toThrow(
        expect.objectContaining({
          code: 'failed_precondition',
          fields: { hint: expect.stringContaining('git --version') },
        }),
      );
    },
  );

  it('is bounded, and is marked when it is not whole', () => {
    const many = Array.from({ length: MOST_PATHS + 5 }, (_, n) => `? ${n}`);
    const status = parseStatus(nul(...many), false);
    expect(status.untracked).toHaveLength(MOST_PATHS);
    expect(status.truncated).toBe(true);
    expect(parseStatus(Buffer.from('? a\0? cut off'), true)).toMatchObject({
      untracked: ['a'],
      truncated: true,
    });
  });
});

describe('a log', () => {
  it('keeps messages as they are, but for the line end that git adds', () => {
    const bytes = nul(hash, 'Ada', 'a@b', '1700000000', 'first\n\nbody\n', hash, '', '', '0', '');
    expect(parseLog(bytes)).toEqual([
      { hash, author: 'Ada', email: 'a@b', date: 1_700_000_000_000, message: 'first\n\nbody' },
      { hash, author: '', email: '', date: 0, message: '' },
    ]);
  });

  it.each(['99999999999999999999', '-99999999999999999999', 'soon', ''])(
    'takes the time %j for some time',
    (time) => {
      const [commit] = parseLog(nul(hash, 'a', 'b', time, 'm'));
      expect(new Date(commit?.date ?? Number.NaN).toISOString()).toMatch(/Z$/);
    },
  );
});

it.each([
  ['99999999999999999999', 8.64e15],
  ['-99999999999999999999', -8.64e15],
  ['-1', -1_000],
  ['soon', 0],
])('a commit at %j seconds has the time %d', (seconds, date) => {
  expect(parseLog(nul(hash, 'a', 'b', seconds, 'm'))[0]?.date).toBe(date);
});

it('a log takes hashes of both lengths, and leaves out a commit that was cut off', () => {
  const long = 'b'.repeat(64);
  const bytes = nul(hash, 'a', 'b', '1', 'm\n\n', long, 'a', 'b', '2', ' n', hash, 'a', 'b', '3');
  expect(parseLog(bytes)).toEqual([
    { hash, author: 'a', email: 'b', date: 1_000, message: 'm\n' },
    { hash: long, author: 'a', email: 'b', date: 2_000, message: ' n' },
  ]);
});

it.each(['a'.repeat(39), 'a'.repeat(65), `x${'a'.repeat(40)}`, `${'a'.repeat(40)}x`, 'A'.repeat(40)])(
  'a log with %s for a hash is unreadable',
  (bad) => {
    expect(() => parseLog(nul(bad, 'a', 'b', '1', 'm'))).toThrow(
      expect.objectContaining({ code: 'failed_precondition' }),
    );
  },
);

it('the formats that git is asked for are those that are read', () => {
  // As git-log(1) and git-for-each-ref(1) define them: hash, author, email, time, whole message; short name, mark.
  expect(LOG_FORMAT).toBe('%H%x00%an%x00%ae%x00%at%x00%B');
  expect(BRANCH_FORMAT).toBe('%(refname:lstrip=2)%00%(HEAD)%00');
});

it('a status counts commits of several digits on both sides', () => {
  expect(parseStatus(nul('# branch.ab +123 -4'), false)).toMatchObject({ ahead: 123, behind: 4 });
});

it('a setting has all after its first line end for a value', () => {
  expect(parseConfig(nul('\na', 'b\n\nc', 'd\n'))).toEqual(
    new Map([
      ['', ['a']],
      ['b', ['\nc']],
      ['d', ['']],
    ]),
  );
});

describe('pushed refs', () => {
  const pushed = (line: string) => parsePush(Buffer.from(line));

  it.each([' ', '+', '*', '=', '-'])('with the flag %j are accepted', (flag) => {
    expect(pushed(`${flag}\ta:b\t1..2`)).toEqual([{ rejected: false, byRemote: false, summary: '1..2' }]);
  });

  it('are rejected by the remote or by the local git', () => {
    expect(pushed('!\ta:b\t[remote rejected] (hook)')).toEqual([
      { rejected: true, byRemote: true, summary: '[remote rejected] (hook)' },
    ]);
    expect(pushed('!\ta:b\t[rejected] [remote x')[0]?.byRemote).toBe(false);
  });

  it.each(['Done', '?\ta:b\tc', 'x!\ta:b\tc', '!\ta\tc', '! a:b c'])('are not in the line %j', (line) => {
    expect(pushed(line)).toEqual([]);
  });
});

it('a branch without its mark, cut off, is left out', () => {
  expect(parseBranches(nul('main', '*', '\nother'))).toEqual([{ name: 'main', current: true }]);
  expect(parseBranches(nul('a\nb', ' '))).toEqual([{ name: 'a\nb', current: false }]);
});

describe('branches, settings and pushed refs', () => {
  it('are read with whatever names they have', () => {
    const bytes = Buffer.concat([Buffer.from('main\0*\0\na/'), Buffer.of(0xff), Buffer.from('\0 \0\n')]);
    expect(parseBranches(bytes)).toEqual([
      { name: 'main', current: true },
      { name: 'a/\uf7ff', current: false },
    ]);
    const config = parseConfig(
      nul('branch.a.b.remote\norigin', 'remote.origin.url\nx\ny', 'remote.origin.url\nz', 'flag'),
    );
    expect(config.get('branch.a.b.remote')).toEqual(['origin']);
    expect(config.get('remote.origin.url')).toEqual(['x\ny', 'z']);
    expect(config.get('flag')).toEqual(['']);
    const push = 'To https://h/a\n!\trefs/heads/a:refs/heads/a\t[rejected] (fetch first)\nDone\n';
    expect(parsePush(Buffer.from(push))).toEqual([
      { rejected: true, byRemote: false, summary: '[rejected] (fetch first)' },
    ]);
  });
});

it('reading any output of a git inside ends in a result or an error with a reason', () => {
  const line = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom(
      '# branch.head x',
      '# branch.ab +1 -1',
      '1 M. N... 1 1 1 1 1 p',
      'u UU',
      '1 ..',
      '2 R. x',
      hash,
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.uint8Array({ maxLength: 20 }), (lines, rest) => {
      const bytes = Buffer.concat([nul(...lines), rest]);
      for (const read of [
        nulSeparated,
        parseLog,
        parseBranches,
        parseConfig,
        parsePush,
        (b: Buffer) => parseStatus(b, false),
      ]) {
        try {
          read(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(SandhavenError);
        }
      }
    }),
    { numRuns: 500 },
  );
});
