import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { answering, item, reply, SANDBOX } from '../wire/fake-agent.ts';

const FILE_BYTES = 64 * 1024 * 1024;
const MOST_FILES = 1_000;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox({ diskBytes: 2 ** 31 });
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(() => sh('rm -rf /workspace/* /workspace/.[!.]*'));

async function sh(command: string): Promise<string> {
  const { output, exitCode } = await sandbox.sh(`set -e; ${command}`, { timeoutMs: 120_000 });
  if (exitCode !== 0) throw new Error(output);
  return output;
}
const write = (path: string, content: string | Buffer) =>
  sandbox.agent.write(sandbox.id, { path, createParents: true, content: Buffer.from(content) });
const bytes = async (path: string) => (await sandbox.agent.read(sandbox.id, { path })).content;
const text = async (path: string) => (await bytes(path)).toString();
const replace = (pattern: string, replacement: string, ...files: string[]) =>
  sandbox.agent.replaceInFiles(sandbox.id, { pattern, replacement, files });
const rows = async (...parameters: Parameters<typeof replace>) =>
  (await replace(...parameters)).results.map(({ path, status, replacements }) => [
    path,
    status,
    replacements,
  ]);
/** What becomes of one line. */
async function edited(line: string, pattern: string, replacement: string): Promise<string> {
  await write('line', line);
  await replace(pattern, replacement, 'line');
  return text('line');
}

describe('replacing', () => {
  it('[WIRE-REPLACE-01, SBX-REPLACE-01, SBX-REPLACE-03, SBX-REPLACE-04] returns a result for each file', async () => {
    await write('a', 'one two\none\n');
    await write('b', 'nothing\n');
    expect(await replace('one', '1', 'a', 'b', 'missing')).toEqual({
      results: [
        { path: 'a', status: 'success', replacements: 2 },
        { path: 'b', status: 'success', replacements: 0 },
        { path: 'missing', status: 'error', replacements: 0, error: "'missing' does not exist." },
      ],
      filesModified: 1,
      literal: false,
    });
    expect(await text('a')).toBe('1 two\n1\n');
  });

  it('[WIRE-REPLACE-02] the first alternative that matches wins', async () => {
    expect(await edited('foobar', 'foo|foobar', 'X')).toBe('Xbar');
    expect(await edited('foobar', 'foobar|foo', 'X')).toBe('X');
    expect(await edited('abab', '(a|ab)(\\1|b)', '[\\1,\\2]')).toBe('[a,b][a,b]');
  });

  it('[WIRE-REPLACE-03] references and escapes in the replacement are those of sed', async () => {
    expect(await edited('john smith', '(\\w+) (\\w+)', '\\2, \\1 (&) \\& \\\\ $1')).toBe(
      'smith, john (john smith) & \\ $1',
    );
    expect(await edited('a,b', ',', '\\n')).toBe('a\nb');
    expect(await edited('ab', '(x)?b', '<\\1>')).toBe('a<>');
    expect(await edited('é', 'x*', '-')).toBe('-é-');
    for (const [replacement, pattern] of [
      ['\\2', '(a)'],
      ['\\', 'a'],
      ['\\Ux', 'a'],
      ['\\1', 'a('],
    ] as const) {
      await expect(replace(pattern, replacement, 'line')).rejects.toMatchObject({
        code: 'invalid_argument',
        fields: { parameter: 'replacement' },
      });
    }
  });

  it('[WIRE-REPLACE-02, WIRE-REPLACE-03] gives what sed gives, empty matches and lines included', async () => {
    const content = 'abc aaa\n\n  baaac e\nlast line';
    const edits = [
      ['x*', '-'],
      ['a*', 'x'],
      ['^', '> '],
      ['$', ';'],
      ['^$', 'empty'],
      ['^a', 'b'],
      ['[[:space:]]*$', ''],
      ['\\s', '_'],
      ['(.)(.)', '\\2\\1'],
      ['b+|c', '<&>'],
      ['.', '&&'],
      ['e', 'é'],
      ['(a)\\1', '\\1'],
      ['\\w+', '[&]'],
    ];
    for (const [pattern = '', replacement = ''] of edits) {
      await write('ours', content);
      await write('theirs', content);
      await replace(pattern, replacement, 'ours');
      await sh(`LC_ALL=C.UTF-8 sed -E -i 's/${pattern}/${replacement}/g' theirs`);
      expect(await text('ours'), `s/${pattern}/${replacement}/`).toBe(await text('theirs'));
    }
  });

  it('a pattern that is no expression is plain text', async () => {
    await write('a', 'call(x\n');
    expect(await replace('call(', 'run(', 'a')).toMatchObject({ literal: true, filesModified: 1 });
    expect(await text('a')).toBe('run(x\n');
    await expect(replace('a\nb', 'x', 'a')).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'pattern' },
    });
  });
});

describe('a pattern as plain text', () => {
  it('is replaced as it stands, where that is asked for', async () => {
    await write('a', 'foobar\nfoo(bar)\n');
    const edit = { pattern: 'foo(bar)', replacement: '[&]', files: ['a'], literal: true };
    expect(await sandbox.agent.replaceInFiles(sandbox.id, edit)).toMatchObject({
      filesModified: 1,
      literal: true,
    });
    expect(await text('a')).toBe('foobar\n[foo(bar)]\n');
  });

  it('[WIRE-REPLACE-06] is counted where the expression finds nothing', async () => {
    await write('a', 'call(x) call(x)\n');
    await write('b', 'call(x)\n');
    expect(await replace('call(x)', 'y', 'a', 'b')).toMatchObject({ filesModified: 0, plainCount: 3 });
    await write('c', 'callx\n');
    expect(await replace('call(x)', 'y', 'a', 'c')).not.toHaveProperty('plainCount');
    expect(await replace('absent', 'y', 'a')).not.toHaveProperty('plainCount');
  });
});

describe('a replacement', () => {
  it('[WIRE-REPLACE-07] changes nothing in a dry run, and counts', async () => {
    await write('a', 'x x\n');
    await write('b', 'y\n');
    const before = await sh('stat -c "%n %i %Y %Z" a b');
    const edit = { pattern: 'x', replacement: 'y', files: ['*', 'gone'], dryRun: true };
    expect(await sandbox.agent.replaceInFiles(sandbox.id, edit)).toMatchObject({
      results: [
        { path: 'a', status: 'success', replacements: 2 },
        { path: 'b', status: 'success', replacements: 0 },
        { path: 'gone', status: 'error' },
      ],
      filesModified: 1,
    });
    expect(await sh('stat -c "%n %i %Y %Z" a b')).toBe(before);
  });

  it('[WIRE-REPLACE-07] skips excluded files, by name or by path', async () => {
    for (const path of ['a.ts', 'src/a.ts', 'src/a.min.ts', 'node_modules/m/a.ts', 'src/gen/b.ts']) {
      await write(path, 'x');
    }
    const exclude = ['node_modules', '*.min.*', 'src/gen'];
    const edit = { pattern: 'x', replacement: 'y', files: ['**/*.ts', 'src/gen/b.ts'], exclude };
    const { results } = await sandbox.agent.replaceInFiles(sandbox.id, edit);
    expect(results.map(({ path }) => path)).toEqual(['a.ts', 'src/a.ts']);
    const none = { ...edit, files: ['src/gen/*.ts'] };
    expect(await sandbox.agent.replaceInFiles(sandbox.id, none)).toMatchObject({
      results: [{ status: 'error', error: "'src/gen/*.ts' matches no file that is not excluded." }],
    });
    await expect(
      sandbox.agent.replaceInFiles(sandbox.id, { ...edit, exclude: ['[a'] }),
    ).rejects.toMatchObject({ code: 'invalid_argument', fields: { parameter: 'exclude' } });
  });
});

describe('the files', () => {
  it('[SBX-REPLACE-02, WIRE-REPLACE-05] are named by paths and globs', async () => {
    const all = ['a.py', 'b.txt', '.hidden.py', 'src/c.py', 'src/deep/d.py', 'src/.git/e.py', 'lib/f.py'];
    const expansions: [string, string[]][] = [
      ['*.py', ['a.py']],
      ['**/*.py', ['a.py', 'lib/f.py', 'src/c.py', 'src/deep/d.py']],
      ['src/**/*.py', ['src/c.py', 'src/deep/d.py']],
      ['{src,lib}/*.py', ['lib/f.py', 'src/c.py']],
      ['src/**', ['src/c.py', 'src/deep/d.py']],
      ['.*.py', ['.hidden.py']],
      ['src/.git/*', ['src/.git/e.py']],
      ['/workspace/src/*.p?', ['src/c.py']],
      ['./src/[a-c].py', ['src/c.py']],
      ['/workspac*/a.py', ['/workspace/a.py']],
    ];
    for (const [glob, expected] of expansions) {
      for (const path of all) await write(path, 'x');
      const { results } = await replace('x', 'y', glob);
      expect(
        results.map(({ path }) => path),
        glob,
      ).toEqual(expected);
      const changed = await sh('grep -rl y . | sed s,^./,, | sort');
      const local = expected.map((path) => path.replace('/workspace/', ''));
      expect(changed.trim().split('\n'), glob).toEqual(local);
    }
    expect(await replace('x', 'y', '*.none', '[a', 'a*{')).toMatchObject({
      results: [
        { path: '*.none', status: 'error', error: "'*.none' matches no file." },
        { path: '[a', status: 'error' },
        { path: 'a*{', status: 'error' },
      ],
      filesModified: 0,
    });
    await write('odd[1]*', 'x');
    expect(await rows('x', 'y', 'odd[1]*')).toEqual([['odd[1]*', 'success', 1]]);
  });

  it('[WIRE-REPLACE-04] are edited once, however often and by whatever path they are named', async () => {
    await write('d/a', 'a');
    await sh('ln -s d/a link; ln -s d folder; ln d/a d/hard');
    const named = ['d/a', './d//a', '/workspace/d/a', 'd/../d/a', 'd/*', 'link', 'folder/a', 'd/a'];
    expect(await rows('a', 'aa', ...named)).toEqual([
      ['d/a', 'success', 1],
      ['d/hard', 'success', 1],
    ]);
    expect(await text('d/a')).toBe('aa');
    expect(await sh('readlink link')).toBe('d/a\n');
  });

  it('keep their mode, their owner and every byte that did not match', async () => {
    const content = Buffer.from('\u{FEFF}x\r\n\xff\xfe x\r\ny\r\nlast x', 'latin1');
    await write('a', content);
    await sh('chown 12:34 a; chmod 4751 a');
    expect(await rows('x', 'longer', 'a')).toEqual([['a', 'success', 3]]);
    const expected = content.toString('latin1').replaceAll('x', 'longer');
    expect((await bytes('a')).equals(Buffer.from(expected, 'latin1'))).toBe(true);
    expect(await sh("stat -c '%a %u:%g' a; ls -A")).toBe('4751 12:34\na\n');
    await write('keep', 'y');
    const before = await sh('stat -c "%i %Y %Z" keep');
    expect(await rows('x', 'z', 'keep')).toEqual([['keep', 'success', 0]]);
    expect(await sh('stat -c "%i %Y %Z" keep')).toBe(before);
  });

  it('are seen whole by who reads them meanwhile', async () => {
    const old = 'a\n'.repeat(200_000);
    await write('a', old);
    const reader = sh('for i in $(seq 60); do cat a | sort -u | tr -d "\\n"; echo; done');
    await replace('a', 'b', 'a');
    expect(new Set((await reader).trim().split('\n'))).not.toContain('ab');
    expect(await text('a')).toBe('b\n'.repeat(200_000));
  });

  it('through a link are edited where they are', async () => {
    await write('/srv/target', 'x');
    await sh('ln -s /srv/target link; ln -s nowhere dangling');
    expect(await rows('x', 'y', 'link', 'dangling', '*')).toEqual([
      ['link', 'success', 1],
      ['dangling', 'error', 0],
      ['*', 'error', 0],
    ]);
    expect(await text('/srv/target')).toBe('y');
    expect(await sh('readlink link')).toBe('/srv/target\n');
  });
});

describe('bad luck', () => {
  it('[WIRE-REPLACE-05] returns an error row for a file that cannot be edited, and edits the others', async () => {
    await write('good', 'x');
    await write('binary', 'x\0');
    await sh('mkfifo fifo; mkdir folder; truncate -s 2G sparse; mkdir ro; mount -t tmpfs -o size=1m none ro');
    await sh('echo x > ro/a; mount -o remount,ro ro');
    const files = ['binary', 'fifo', 'folder', 'sparse', 'ro/a', '/dev/null', '/proc/loadavg', 'good', '..'];
    const { results, filesModified } = await replace('x', 'y', ...files);
    await sh('umount ro');
    expect(filesModified).toBe(1);
    expect(results.map(({ path, status }) => [path, status])).toEqual(
      files.map((path) => [path, path === 'good' || path.startsWith('/proc') ? 'success' : 'error']),
    );
    for (const { status, error } of results) expect(typeof error === 'string').toBe(status === 'error');
    expect(results.map(({ error }) => error ?? '')).toEqual(
      expect.arrayContaining([
        expect.stringContaining('binary'),
        expect.stringContaining('folder'),
        expect.stringContaining(String(FILE_BYTES)),
        expect.stringContaining('read-only'),
      ]),
    );
    expect(await text('good')).toBe('y');
  });

  it('[WIRE-REPLACE-05] one that takes too long is an error row, and is unchanged', async () => {
    await write('slow', `${'a'.repeat(5_000)}bz\n`);
    await write('quick', 'aaz\n');
    expect(await rows('^((a+)+)+\\2z$', 'X', 'slow', 'quick')).toEqual([
      ['slow', 'error', 0],
      ['quick', 'success', 1],
    ]);
    expect(await text('slow')).toBe(`${'a'.repeat(5_000)}bz\n`);
  });

  it('one that would become too large is an error row, and leaves nothing behind', async () => {
    await sh('yes a | head -c 4000000 > a; cp a b');
    expect(await rows('a', 'x'.repeat(60_000), 'a')).toEqual([['a', 'error', 0]]);
    expect(await sh('cmp a b; ls -A')).toBe('a\nb\n');
  });

  it('a full disk is an error row, and leaves nothing behind', async () => {
    await sh(
      'mkdir small; mount -t tmpfs -o size=2m none small; yes a | head -c 1500000 > small/a; cp small/a b',
    );
    try {
      const { results } = await replace('a', 'b', 'small/a');
      const error = "The sandbox's disk is full. Delete files, or give it a larger disk.";
      expect(results).toMatchObject([{ status: 'error', error }]);
      expect(await sh('cmp small/a b; ls -A small')).toBe('a\n');
    } finally {
      await sh('umount small');
    }
  });

  it('more files than the bound are refused before anything happens', async () => {
    await sh(`for i in $(seq ${MOST_FILES}); do echo x > f$i; done`);
    expect(await replace('x', 'y', 'f*')).toMatchObject({ filesModified: MOST_FILES });
    await write('more', 'y');
    await expect(replace('y', 'z', 'more', '*')).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'files' },
    });
    expect(await text('more')).toBe('y');
  });

  it('names that are not UTF-8', async () => {
    await sh("echo x > $'n\\xff'");
    expect(await rows('x', 'y', 'n\u{F7FF}')).toEqual([['n\u{F7FF}', 'success', 1]]);
    expect(await rows('y', 'z', 'n?')).toEqual([['n\u{F7FF}', 'success', 1]]);
  });
});

describe('an agent that is not to be trusted', () => {
  const row = { path: 'a', status: 'success', replacements: 1 };
  const done = { files_modified: 1, literal: false };
  const breaches: [string, unknown, unknown][] = [
    ['rows that do not add up', [row], { ...done, files_modified: 2 }],
    ['more rows than files may be', Array(MOST_FILES + 1).fill({ ...row, replacements: 0 }), done],
    ['a status that is none', [{ ...row, status: 'maybe' }], done],
    ['a negative count', [{ ...row, replacements: -1 }], done],
    ['an error of a megabyte', [{ ...row, error: 'x'.repeat(1e6) }], done],
    ['no word on plain text', [row], { files_modified: 1 }],
  ];
  it.each(breaches)('%s: unavailable', async (_, results, end) => {
    const fake = answering(Buffer.concat([item(results), reply(end)]));
    const request = { pattern: 'x', replacement: 'y', files: ['a'] };
    await expect(fake.link.replaceInFiles(SANDBOX, request)).rejects.toMatchObject({ code: 'unavailable' });
    expect(fake.closed()).toBe(true);
  });
});
