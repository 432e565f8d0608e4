import { describe, expect, it } from 'vitest';
import { replaceText } from '../../../src/catalog/files/replace-in-files.ts';
import { searchText } from '../../../src/catalog/files/search-content.ts';
import { callWith, printed, signal } from './call-with.ts';

describe('ReplaceInFiles', () => {
  const edit = { pattern: 'a', replacement: 'b', files: ['*.txt'] };
  const ok = (path: string, replacements: number) => ({ path, status: 'success', replacements });
  const failed = { path: 'full', status: 'error', replacements: 0, error: 'no room' };

  it('lists files with a match or an error, counts the others, and sums the replacements', async () => {
    const answer = {
      results: [ok('a', 2), ok('b', 0), failed, ok('c', 3)],
      filesModified: 2,
      literal: false,
    };
    const { result } = await callWith('ReplaceInFiles', edit, 'files.replace', answer);
    expect(result).toEqual({
      results: [ok('a', 2), failed, ok('c', 3)],
      ...{ files_modified: 2, files_unchanged: 1, total_replacements: 5, literal: false },
    });
  });

  it('[WIRE-REPLACE-01] has a row for each file that is named by its path, however that is spelled', async () => {
    const files = ['b', './src/../c', '/workspace/d', '/etc/e', '*.txt'];
    const results = ['b', 'c', 'd', '/etc/e', 'f.txt'].map((path) => ok(path, 0));
    const answer = { results, filesModified: 0, literal: false };
    const { result, text } = await callWith('ReplaceInFiles', { ...edit, files }, 'files.replace', answer);
    expect(result).toMatchObject({ results: results.slice(0, 4), files_unchanged: 1 });
    expect(text).toBe('0 replacements in 0 files; 5 files without a match.');
  });

  it('modifies no file in a dry run', async () => {
    const answer = { results: [ok('a', 2)], filesModified: 1, literal: true };
    const dry = { ...edit, dry_run: true, literal: true, exclude: ['node_modules'], sandbox: 'box' };
    const { result, asked } = await callWith('ReplaceInFiles', dry, 'files.replace', answer);
    expect(result).toMatchObject({ files_modified: 0, dry_run: true, literal: true, total_replacements: 2 });
    expect(asked).toEqual([
      'box',
      { ...edit, literal: true, exclude: ['node_modules'], dryRun: true },
      signal,
    ]);
  });

  it('notes what the pattern would find as plain text', async () => {
    const answer = { results: [ok('a', 0)], filesModified: 0, literal: false, plainCount: 1 };
    const { result, text } = await callWith('ReplaceInFiles', edit, 'files.replace', answer);
    const note =
      'Nothing matches the expression, but as plain text it is there 1 time; set literal to find that.';
    expect(result['note']).toBe(note);
    expect(text).toBe(`0 replacements in 0 files; 1 file without a match. ${note}`);
  });

  it('has a text with the sums, the errors, then the files', () => {
    const results = [ok('a', 2), failed, ok('c', 1)] as Parameters<typeof replaceText>[0]['results'];
    const sums = { files_unchanged: 2, total_replacements: 3, literal: true };
    expect(replaceText({ results, ...sums, dry_run: true })).toBe(
      'Dry run, nothing is changed: 3 replacements in 2 files; 2 files without a match; 1 error; ' +
        'the pattern was plain text (literal).\nerror full: no room\n2 a\n1 c',
    );
    expect(replaceText({ results: [], files_unchanged: 1, total_replacements: 0, literal: false })).toBe(
      '0 replacements in 0 files; 1 file without a match.',
    );
  });
});

describe('SearchContent', () => {
  const match = { line: 3, text: 'x', before: ['w'], after: ['y', 'z'] };
  const found = (file: object) => ({
    files: [{ path: 'a.txt', ...file }],
    ...{ totalCount: 1, literal: false },
  });

  it('asks for matches below the current folder, fifty files, and no lines around them', async () => {
    const { asked } = await callWith('SearchContent', { query: 'x' }, 'files.search', found({}));
    const standard = { path: '.', output: 'matches', contextLines: 0, maxItems: 50, offset: 0 };
    expect(asked.slice(0, 2)).toEqual([undefined, { query: 'x', ...standard }]);
  });

  it('passes the pattern of names, and plain text', async () => {
    const given = { query: 'x', file_pattern: '*.py', literal: true };
    const { asked } = await callWith('SearchContent', given, 'files.search', found({}));
    expect(asked[1]).toMatchObject({ filePattern: '*.py', literal: true });
  });

  it('shows lines around a match only where some were asked for', async () => {
    const file = { matches: [match], matchCount: 1, capped: false };
    const bare = await callWith('SearchContent', { query: 'x' }, 'files.search', found(file));
    expect(bare.result['files']).toEqual([
      { path: 'a.txt', matches: [{ line: 3, text: 'x' }], match_count: 1, capped: false },
    ]);
    const wide = { query: 'x', context_lines: 2 };
    const around = await callWith('SearchContent', wide, 'files.search', found(file));
    expect(around.result['files']).toEqual([
      { path: 'a.txt', matches: [match], match_count: 1, capped: false },
    ]);
    expect(around.text).toContain('a.txt (1 line)\n2- w\n3: x\n4- y\n5- z');
  });

  it('shows paths alone, and counts alone', async () => {
    const paths = await callWith('SearchContent', { query: 'x', output: 'files' }, 'files.search', found({}));
    expect(paths.result['files']).toEqual([{ path: 'a.txt' }]);
    const counts = { query: 'x', output: 'counts' };
    const counted = await callWith('SearchContent', counts, 'files.search', found({ matchCount: 7 }));
    expect(counted.result['files']).toEqual([{ path: 'a.txt', match_count: 7 }]);
  });

  it('notes what the query would find as plain text', async () => {
    const nothing = { files: [], totalCount: 0, literal: false };
    const answer = { ...nothing, plainCount: 2 };
    const { result } = await callWith('SearchContent', { query: 'f(x)' }, 'files.search', answer);
    expect(result['note']).toBe(
      'Nothing matches the expression, but as plain text it is there in 2 files; set literal to find that.',
    );
    const without = await callWith('SearchContent', { query: 'f(x)' }, 'files.search', nothing);
    expect(without.result).not.toHaveProperty('note');
  });

  it('has a text with a line for each file, and where there is more', () => {
    const page = { total_count: 2, has_more: false, offset: 0, literal: true };
    const files = [{ path: 'a', match_count: 50, capped: true }, { path: 'b' }];
    expect(searchText({ files, ...page })).toBe('2 files match as plain text.\na (50 lines, and more)\nb');
  });
});

describe('ReadFile', () => {
  const slice = { content: Buffer.from('one\n'), size: 4, totalLines: 1, startLine: 1, endLine: 1 };

  it('prints text unchanged, and describes what is none', async () => {
    const { result } = await callWith('ReadFile', { path: 'a' }, 'files.read', slice);
    expect(printed('ReadFile', result)).toBe('one\n');
    const binary = { ...slice, content: Buffer.from([0xff]), size: 1 };
    const bytes = await callWith('ReadFile', { path: 'b' }, 'files.read', binary);
    expect(bytes.result).toMatchObject({ content: '/w==', encoding: 'base64' });
    expect(printed('ReadFile', bytes.result)).toBe('[b: lines 1-1 of 1, 1 bytes, base64]\n/w==');
  });

  it('has a text that shows a missing newline at the very end only', async () => {
    const open = { ...slice, content: Buffer.from('one'), size: 3 };
    const whole = await callWith('ReadFile', { path: 'a' }, 'files.read', open);
    expect(whole.text).toBe('[a: lines 1-1 of 1, 3 bytes, utf-8, no newline at its end]\none');
    const range = await callWith('ReadFile', { path: 'a' }, 'files.read', { ...open, totalLines: 2 });
    expect(range.text).toBe('[a: lines 1-1 of 2, 3 bytes, utf-8]\none');
    const empty = { ...slice, content: Buffer.from(''), size: 0, totalLines: 0, endLine: 0 };
    const none = await callWith('ReadFile', { path: 'a' }, 'files.read', empty);
    expect(none.text).toBe('[a: no lines of 0, 0 bytes, utf-8]\n');
  });

  it('[WIRE-FILES-08] has whole lines in the text of a long content, and the line that comes next', async () => {
    // 16,384 less 512 and the path leave room for 15,871 characters: 1,587 lines of ten, and one more.
    const lines = `${'x'.repeat(9)}\n`.repeat(1_587);
    const textOf = async (content: string) => {
      const whole = { ...slice, content: Buffer.from(content), size: content.length };
      return (await callWith('ReadFile', { path: 'a' }, 'files.read', whole)).text
        .split('\n')
        .slice(1)
        .join('\n');
    };
    expect(await textOf(`${lines}x`)).toBe(`${lines}x`);
    expect(await textOf(`${lines}x\n`)).toBe(`${lines}[the text ends here; start_line 1588 goes on]`);
    expect(await textOf(`${lines}xx`)).toBe(`${lines}[the text ends here; start_line 1588 goes on]`);
  });
});

describe('other file tools', () => {
  it('WriteFile passes durable, and shows whether the file is new', async () => {
    const given = { path: 'a', content: 'x', durable: true };
    const { asked, text } = await callWith('WriteFile', given, 'files.write', {
      bytesWritten: 1,
      created: true,
    });
    expect(asked[1]).toEqual({ path: 'a', content: Buffer.from('x'), createParents: true, durable: true });
    expect(text).toBe('Created a: 1 bytes.');
    const again = { path: 'a', content: 'x' };
    const replaced = await callWith('WriteFile', again, 'files.write', { bytesWritten: 1, created: false });
    expect(replaced.asked[1]).not.toHaveProperty('durable');
    expect(replaced.text).toBe('Replaced a: 1 bytes.');
  });

  it('ListFiles passes the pattern', async () => {
    const answer = { path: '/workspace', items: [], totalCount: 0 };
    const { asked } = await callWith('ListFiles', { pattern: '*.md' }, 'files.list', answer);
    expect(asked[1]).toMatchObject({ pattern: '*.md' });
  });
});
