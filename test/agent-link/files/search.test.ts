import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ContentQuery } from '../../../src/control/ports/index.ts';
import { inPart } from '../../deep/parts.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { answering, item, reply, SANDBOX } from '../wire/fake-agent.ts';

const SHOWN_LINE_UNITS = 802;
const QUERIES = inPart('cluster') ? 900 : 300;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox({ diskBytes: 2 ** 31 });
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(() => sh('rm -rf /workspace/* /workspace/.[!.]*'));

const PATIENCE_MS = 120_000;

async function sh(command: string): Promise<string> {
  const { output, exitCode } = await sandbox.sh(`set -e; ${command}`, { timeoutMs: PATIENCE_MS });
  if (exitCode !== 0) throw new Error(output);
  return output;
}
const write = (path: string, content: string | Buffer) =>
  sandbox.agent.write(sandbox.id, { path, createParents: true, content: Buffer.from(content) });
const search = (query: string, more: Partial<ContentQuery> = {}, signal?: AbortSignal) =>
  sandbox.agent.searchContent(
    sandbox.id,
    { path: '.', query, contextLines: 0, maxItems: 200, offset: 0, ...more },
    signal,
  );
/** Path and line numbers of every match. */
const where = async (...parameters: Parameters<typeof search>) =>
  (await search(...parameters)).files.map(({ path, matches }) => [
    path,
    ...(matches ?? []).map(({ line }) => line),
  ]);
const paths = async (...parameters: Parameters<typeof search>) =>
  (await search(...parameters)).files.map(({ path }) => path);

describe('a query', () => {
  it('is read as plain text on request', async () => {
    await write('a', 'foobar\nfoo(bar)\n');
    expect(await where('foo(bar)')).toEqual([['a', 1]]);
    expect(await where('foo(bar)', { literal: true })).toEqual([['a', 2]]);
    expect(await search('foo(bar)', { literal: true })).toMatchObject({ literal: true });
  });

  it('[WIRE-SEARCH-09] counts the files that have it as plain text when no expression matches', async () => {
    for (const name of ['a', 'b', 'd/c']) await write(name, 'call(x)\n');
    await write('e', 'nothing\n');
    expect(await search('call(x)')).toEqual({ files: [], totalCount: 0, literal: false, plainCount: 3 });
    expect(await search('call(x)', { filePattern: 'a' })).toMatchObject({ plainCount: 1 });
    for (const [query, more] of [
      ['call(y)', {}],
      ['absent', {}],
      ['call(x)', { literal: true, path: 'e' }],
      ['call.x.', {}],
    ] as const) {
      expect(await search(query, more), query).not.toHaveProperty('plainCount');
    }
  });
});

describe('the result of a file', () => {
  it('[WIRE-SEARCH-10] is its path alone, or the number of all its matching lines', async () => {
    await write('a', 'x\n'.repeat(60_000));
    await write('b', 'y\nx');
    const page = { totalCount: 2, literal: false };
    expect(await search('x', { output: 'files' })).toEqual({
      files: [{ path: 'a' }, { path: 'b' }],
      ...page,
    });
    expect(await search('x', { output: 'counts' })).toEqual({
      files: [
        { path: 'a', matchCount: 60_000 },
        { path: 'b', matchCount: 1 },
      ],
      ...page,
    });
    expect(await search('x', { output: 'counts', offset: 1, maxItems: 1 })).toMatchObject({
      files: [{ path: 'b' }],
      totalCount: 2,
    });
  });

  it('counts a line that is read in pieces once', async () => {
    await sh('{ echo x; head -c 40000000 /dev/zero | tr "\\0" x; echo; echo y; echo x; } > long');
    expect(await search('x', { output: 'counts' })).toMatchObject({
      files: [{ path: 'long', matchCount: 3 }],
    });
  });
});

describe('matches', () => {
  it('[WIRE-SEARCH-01, WIRE-SEARCH-02, SBX-SEARCH-07] have their file, line and text', async () => {
    await write('b/two.txt', 'alpha\nbeta\r\nbeta again');
    await write('a.txt', 'beta');
    expect(await search('beta')).toEqual({
      files: [
        {
          path: 'a.txt',
          matches: [{ line: 1, text: 'beta', before: [], after: [] }],
          matchCount: 1,
          capped: false,
        },
        {
          path: 'b/two.txt',
          matches: [
            { line: 2, text: 'beta\r', before: [], after: [] },
            { line: 3, text: 'beta again', before: [], after: [] },
          ],
          matchCount: 2,
          capped: false,
        },
      ],
      totalCount: 2,
      literal: false,
    });
  });

  it('[SBX-SEARCH-04] have as many lines around them as asked for, where there are any', async () => {
    await write('a', 'one\ntwo\nX\nfour\nX\nsix\nseven\n');
    expect((await search('X', { contextLines: 2 })).files[0]?.matches).toEqual([
      { line: 3, text: 'X', before: ['one', 'two'], after: ['four', 'X'] },
      { line: 5, text: 'X', before: ['X', 'four'], after: ['six', 'seven'] },
    ]);
    await write('a', 'X\nX');
    expect((await search('X', { contextLines: 5 })).files[0]?.matches).toEqual([
      { line: 1, text: 'X', before: [], after: ['X'] },
      { line: 2, text: 'X', before: ['X'], after: [] },
    ]);
  });

  it('[SBX-SEARCH-04] have those lines too where a file is read in pieces', async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index + 1}`);
    for (const at of [9_000, 15_000, 16_000, 59_999]) lines[at] += ' X';
    await write('a', lines.join('\n'));
    const { files } = await search('X$', { contextLines: 5 });
    expect(files[0]?.matches?.map(({ line }) => line)).toEqual([9_001, 15_001, 16_001, 60_000]);
    for (const { line, before, after } of files[0]?.matches ?? []) {
      expect(before).toEqual(lines.slice(line - 6, line - 1));
      expect(after).toEqual(lines.slice(line, line + 5));
    }
    const everywhere = Array.from({ length: 14_000 }, (_, index) => `# ${index}`.padEnd(20));
    for (let at = 6_500; at < 6_600; at += 3) everywhere[at] += 'X';
    await write('a', everywhere.join('\n'));
    for (const { line, before, after } of (await search('X', { contextLines: 5 })).files[0]?.matches ?? []) {
      expect(before).toEqual(everywhere.slice(line - 6, line - 1));
      expect(after).toEqual(everywhere.slice(line, line + 5));
    }
  });

  it('[SBX-SEARCH-08, WIRE-SEARCH-01] are at most 50 a file, which is marked when there are more', async () => {
    await sh('yes match | head -50 > exact; yes match | head -51 > more');
    const { files } = await search('match');
    expect(files.map(({ matchCount, matches, capped }) => [matchCount, matches?.length, capped])).toEqual([
      [50, 50, false],
      [50, 50, true],
    ]);
  });

  it('[SBX-SEARCH-05, SBX-SEARCH-06, WIRE-SEARCH-03] are paged by files, sorted by path', async () => {
    await sh('mkdir d; for i in $(seq 1000 1249); do echo match > $i; done; echo match > d/x; echo no > z');
    const first = await search('match', { maxItems: 100 });
    expect(first.totalCount).toBe(251);
    const all = [...first.files];
    for (const offset of [100, 200]) all.push(...(await search('match', { maxItems: 100, offset })).files);
    expect(all.map(({ path }) => path)).toEqual([
      ...Array.from({ length: 250 }, (_, index) => String(1000 + index)),
      'd/x',
    ]);
    expect(await search('match', { offset: 9_999_999 })).toMatchObject({ files: [], totalCount: 251 });
  });

  it('[WIRE-SEARCH-07] have a long line cut around them', async () => {
    await write('long', `${'é'.repeat(5_000)}NEEDLE${'ü'.repeat(5_000)}\n${'x'.repeat(1_000)}\n`);
    const [match] = (await search('NEEDLE', { contextLines: 1 })).files[0]?.matches ?? [];
    expect(match?.text).toBe(`…${'é'.repeat(120)}NEEDLE${'ü'.repeat(274)}…`);
    expect(match?.after).toEqual([`${'x'.repeat(400)}…`]);
    await write('long', `${'😀'.repeat(399)}N`);
    expect((await search('N')).files[0]?.matches?.[0]?.text).toBe(`${'😀'.repeat(399)}N`);
  });

  it('are found beside bytes that are not UTF-8, which are shown as U+FFFD', async () => {
    await write('latin', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x61, 0x75, 0x0a]));
    expect((await search('caf.*au')).files).toEqual([]);
    expect((await search('a[uv]$')).files[0]?.matches?.[0]?.text).toBe('caf\u{FFFD} au');
  });
});

describe('the scope of a search', () => {
  it('[SBX-SEARCH-02] is any folder or one file', async () => {
    await write('a/b/c', 'match');
    await write('/srv/x', 'match');
    await sh('ln -s /srv/x /workspace/a/link; ln -s /srv /workspace/a/folder');
    expect(await paths('match')).toEqual(['a/b/c']);
    expect(await paths('match', { path: 'a/b' })).toEqual(['a/b/c']);
    expect(await paths('match', { path: 'a/b/c' })).toEqual(['a/b/c']);
    expect(await paths('match', { path: '/srv' })).toEqual(['/srv/x']);
    expect(await paths('match', { path: '/srv/x' })).toEqual(['/srv/x']);
    expect(await paths('match', { path: 'a/link' })).toEqual(['a/link']);
    expect(await paths('match', { path: 'a/folder' })).toEqual(['a/folder/x']);
    await expect(search('x', { path: 'nope' })).rejects.toMatchObject({
      code: 'not_found',
      fields: { parameter: 'path' },
    });
    await expect(search('x', { path: '/dev/zero' })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('[SBX-SEARCH-03] is limited by a glob of names, or of paths when it has a slash', async () => {
    for (const path of ['a.ts', 'a.tsx', 'src/b.ts', 'src/deep/c.ts', 'ts']) await write(path, 'match');
    expect(await paths('match', { filePattern: '*.ts' })).toEqual(['a.ts', 'src/b.ts', 'src/deep/c.ts']);
    expect(await paths('match', { filePattern: '*.{ts,tsx}', path: 'src' })).toEqual([
      'src/b.ts',
      'src/deep/c.ts',
    ]);
    expect(await paths('match', { filePattern: 'src/*.ts' })).toEqual(['src/b.ts']);
    expect(await paths('match', { filePattern: 'b.ts', path: 'src/b.ts' })).toEqual(['src/b.ts']);
    expect(await paths('match', { filePattern: '*.py', path: 'src/b.ts' })).toEqual([]);
    await expect(search('x', { filePattern: '[a' })).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'file_pattern' },
    });
  });

  it('[WIRE-SEARCH-06] leaves out binary and special files, and includes hidden and ignored ones', async () => {
    await write('.gitignore', 'ignored\n');
    for (const path of ['ignored', '.hidden', '.git/config', 'node_modules/x']) await write(path, 'match\n');
    await write('binary', 'match\n\0');
    await write(
      'late',
      Buffer.concat([Buffer.from('match\n'), Buffer.alloc(900_000, 'x\n'), Buffer.from('\0')]),
    );
    await sh(
      'mkfifo fifo; ln -s /dev/zero zero; ln -s nowhere dangling; ln -s . loop;' +
        'perl -MSocket -e \'socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("socket"))\'',
    );
    expect(await paths('match')).toEqual(['.git/config', '.hidden', 'ignored', 'node_modules/x']);
  });

  it('includes file systems made up by the kernel only when they are named', async () => {
    const everywhere = await search('Linux', { path: '/', filePattern: 'ostype' });
    expect(everywhere.files).toEqual([]);
    const named = await paths('Linux', { path: '/proc/sys/kernel', filePattern: 'ostype' });
    expect(named).toEqual(['/proc/sys/kernel/ostype']);
  });

  it('shows names that are not UTF-8 in the form in which callers give them', async () => {
    await sh("mkdir $'d\\xff'; echo match > $'d\\xff/n\\xfe'");
    expect(await paths('match')).toEqual(['d\u{F7FF}/n\u{F7FE}']);
    expect(await paths('match', { path: 'd\u{F7FF}' })).toEqual(['d\u{F7FF}/n\u{F7FE}']);
    expect(await paths('match', { filePattern: 'n\u{F7FE}' })).toEqual(['d\u{F7FF}/n\u{F7FE}']);
  });
});

describe('queries', () => {
  it('[SBX-SEARCH-01, WIRE-SEARCH-04] have the syntax of grep -E, with classes and back-references', async () => {
    await write('a', 'foo bar\nfoobar\nfoo foo\n42 (x)\n');
    const cases: [string, number[]][] = [
      ['fo{2}\\b', [1, 3]],
      ['^(foo) \\1$', [3]],
      ['\\d+ \\(', [4]],
      ['(o|a)\\s(b|f)', [1, 3]],
      ['[[:digit:]]|bar$', [1, 2, 4]],
      ['\\<bar', [1]],
      ['bar\n42', [1, 2, 4]],
    ];
    for (const [query, lines] of cases) expect(await where(query), query).toEqual([['a', ...lines]]);
  });

  it('[WIRE-SEARCH-05] are searched as plain text when they are no expressions', async () => {
    await write('a', 'call(foo\nf() {}\n[x\n');
    for (const [query, line] of [
      ['call(', 1],
      ['f() {}', 2],
      ['[x', 3],
    ] as const) {
      expect(await search(query), query).toMatchObject({ literal: true, totalCount: 1 });
      expect(await where(query), query).toEqual([['a', line]]);
    }
    expect(await search('x)')).toMatchObject({ literal: false });
  });

  it(
    'match as grep does, whatever they are made of',
    async () => {
      const random = randomNumbers(20_260);
      const pick = <T>(from: readonly T[]) => from[random(from.length)] as T;
      const queries = Array.from({ length: QUERIES }, () =>
        Array.from({ length: 1 + random(6) }, () => pick(ATOMS)).join(''),
      ).filter((query) => !OPERATOR_WITHOUT_ATOM.test(query));
      const lines = Array.from({ length: 300 }, () =>
        Array.from({ length: random(9) }, () => pick(CHARACTERS)).join(''),
      );
      await write('corpus', `${lines.join('\n')}\n`);
      await write('/tmp/queries', queries.map((query) => `${query}\0`).join(''));
      const grep =
        'while IFS= read -r -d "" q; do grep -a -n -m 50 -E -e "$q" corpus 2> /dev/null | cut -d: -f1 | tr "\\n" " ";' +
        'echo "$PIPESTATUS"; done < /tmp/queries';
      const answers = (await sh(`set +e; ${grep}`)).trimEnd().split('\n');
      for (const [index, query] of queries.entries()) {
        const numbers = (answers[index] ?? '').split(' ').map(Number);
        const refused = numbers.pop() === 2;
        const found = await search(query, { path: 'corpus' });
        expect(found.literal, `${query}: literal`).toBe(refused);
        const own = found.files[0]?.matches?.map(({ line }) => line) ?? [];
        if (!refused) expect(own, query).toEqual(numbers);
      }
    },
    PATIENCE_MS,
  );

  it('are refused when they are too large', async () => {
    for (const query of ['((a{1000}){1000}){1000}', '('.repeat(100) + ')'.repeat(100)]) {
      await expect(search(query)).rejects.toMatchObject({
        code: 'invalid_argument',
        fields: { parameter: 'query' },
      });
    }
  });
});

describe('bad luck', () => {
  it('back-references that leave no end of ways are a timeout', async () => {
    await write('a', `${'a'.repeat(5_000)}bz\n`);
    await expect(search('^((a+)+)+\\2z$')).rejects.toMatchObject({ code: 'timeout' });
    expect(await where('^(a+)bz$')).toEqual([['a', 1]]);
  });

  it('files of gigabytes, and lines of millions of characters', async () => {
    await sh('truncate -s 2G sparse; head -c 10000000 /dev/zero | tr "\\0" x > line; echo needle >> line');
    expect(await where('needle')).toEqual([['line', 1]]);
    expect((await search('xneedle$')).files[0]?.matches?.[0]?.text).toBe(`…${'x'.repeat(120)}xneedle`);
    expect(await where('(xn)ee.*e$')).toEqual([['line', 1]]);
  });

  it(
    'ten thousand files, some of which vanish meanwhile',
    async () => {
      await sh(
        'mkdir -p t/{1..100}; for d in t/*; do (cd $d; seq 100 | split -l 1 -a 3 - f); done;' +
          'mkdir deep; cd deep; for i in $(seq 200); do mkdir d; cd d; done; echo 50 > leaf',
      );
      expect(await search('^50$')).toMatchObject({ totalCount: 101 });
      const vanishing = sh('rm -rf t/?[0-5]');
      while (!(await Promise.race([vanishing.then(() => true), search('^50$').then(() => false)])));
      expect(await search('^50$')).toMatchObject({ totalCount: 101 - 54 });
    },
    2 * PATIENCE_MS,
  );

  it('files that grow while they are read', async () => {
    await sh('(while :; do echo no >> growing; done) > /dev/null 2>&1 & echo $! > /tmp/pid');
    try {
      for (let turn = 0; turn < 20; turn++) expect((await search('match')).files).toEqual([]);
    } finally {
      await sh('kill $(cat /tmp/pid)');
    }
  });

  it('a call that is cancelled leaves the agent free for others', async () => {
    await sh('yes "$(head -c 3000 /dev/zero | tr "\\0" a)" | head -c 300000000 > large');
    const endless = '(a?){60}(a?){60}b\\w\\1$';
    const calls = Array.from({ length: 6 }, () => {
      const controller = new AbortController();
      const call = search(endless, {}, controller.signal).catch((error: unknown) => error);
      return { controller, call };
    });
    const listed = sandbox.agent.find(sandbox.id, { path: '.', pattern: '*', maxItems: 9, offset: 0 });
    for (const { controller } of calls) controller.abort(new Error('gone'));
    for (const { call } of calls) expect(await call).toMatchObject({ message: 'gone' });
    expect(await listed).toMatchObject({ items: ['large'] });
    expect(await where('b')).toEqual([]);
  });

  it('a page that would be very large ends early, and the next goes on', async () => {
    const line = 'print "\\x01" x 400 . "\\n" for 1..60';
    await sh(`for i in $(seq 100 299); do perl -e '${line}' > $i; done`);
    const first = await search('.', { contextLines: 5 });
    expect(first.totalCount).toBe(200);
    expect(first.files.length).toBeLessThan(200);
    const next = await search('.', { contextLines: 5, offset: first.files.length });
    expect(next.files[0]?.path).toBe(String(100 + first.files.length));
  });
});

describe('an agent that is not to be trusted', () => {
  const match = { line: 1, text: 'x', before: [], after: [] };
  const file = { path: 'a', matches: [match], match_count: 1, capped: false };
  const done = { total_count: 1, literal: false };
  const breaches: [string, unknown, unknown][] = [
    ['more files than asked for', [file, file, file], { ...done, total_count: 9 }],
    ['more files than there are', [file, file], done],
    ['a file without a match', [{ ...file, matches: [], match_count: 0 }], done],
    ['a count of its own', [{ ...file, match_count: 2 }], done],
    ['too many matches', [{ ...file, matches: Array(51).fill(match), match_count: 51 }], done],
    ['a line of a megabyte', [{ ...file, matches: [{ ...match, text: 'x'.repeat(1e6) }] }], done],
    ['a line before the first', [{ ...file, matches: [{ ...match, line: 0 }] }], done],
    ['too much context', [{ ...file, matches: [{ ...match, after: Array(6).fill('') }] }], done],
    ['a path of a megabyte', [{ ...file, path: 'x'.repeat(1e6) }], done],
    ['no word on plain text', [file], { total_count: 1 }],
  ];
  it.each(breaches)('%s: unavailable', async (_, files, end) => {
    const fake = answering(Buffer.concat([item(files), reply(end)]));
    const query = { path: '.', query: 'x', contextLines: 5, maxItems: 2, offset: 0 };
    await expect(fake.link.searchContent(SANDBOX, query)).rejects.toMatchObject({ code: 'unavailable' });
    expect(fake.closed()).toBe(true);
  });

  it('its rows are taken as they are when they keep to the bounds', async () => {
    const longest = { ...match, text: 'x'.repeat(SHOWN_LINE_UNITS) };
    const fake = answering(Buffer.concat([item([{ ...file, matches: [longest] }]), reply(done)]));
    const query = { path: '.', query: 'x', contextLines: 0, maxItems: 2, offset: 0 };
    expect(await fake.link.searchContent(SANDBOX, query)).toMatchObject({ totalCount: 1 });
  });
});

/** With the operators that begin an expression grep's two matchers disagree with each other. */
const OPERATOR_WITHOUT_ATOM = /(^|[(|^$]|\\[`'<>bB])[*+?{]/;
const ATOMS = [
  ...['a', 'b', 'é', '.', '_', '1', '-', ' ', '{', '}', ')', ']', '\\.', '\\/', '\\(', '\\x', '\\', '['],
  ...[
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '^',
    '$',
    '\\b',
    '\\<',
    '\\>',
    '\\B',
    '\\`',
    "\\'",
    '(',
    '|',
    '(a|b)',
    '(b*)',
  ],
  ...['*', '+', '?', '{1}', '{,2}', '{2}', '{1,', '\\1', '[ab]', '[^a]', '[]a]', '[a-c]', '[\\]', '[a-]'],
  ...['[[:alpha:]]', '[[:space:]x]', '[^[:digit:]]', '[[:upper:]]', '[[:punct:]]', '[[.a.]b]', '[[=a=]]'],
] as const;
const CHARACTERS = [
  ...['a', 'b', 'c', 'é', 'É', '_', '1', '2', '-', '.', ' ', '\t', '{', '}', ')', '(', '[', ']', '\\', 'x'],
  ...['«', '٣', '/', '$', '^', '*'],
] as const;

/** The same numbers in every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
}
