import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  await must(service, 'CreateSandbox', { disk_gb: 2 });
  const files = { 'src/a.py': 'import os\nprint(os)\n', 'src/b.py': 'import sys\n', 'notes.md': 'import\n' };
  for (const [path, content] of Object.entries(files)) await must(service, 'WriteFile', { path, content });
}, 120_000);

afterAll(() => service?.stop());

const refusal = async (tool: string, parameters: Record<string, unknown>) => {
  const { status, body } = await call(service, tool, parameters);
  return { status, code: body['code'], parameter: body['parameter'] };
};

describe('Sandbox.SearchContent', () => {
  it('[SBX-SEARCH-01, SBX-SEARCH-02, SBX-SEARCH-07, WIRE-SEARCH-01] searches the sandbox root', async () => {
    expect(await must(service, 'SearchContent', { query: '^import \\w' })).toEqual({
      files: [
        {
          path: 'src/a.py',
          matches: [{ line: 1, text: 'import os' }],
          match_count: 1,
          capped: false,
        },
        {
          path: 'src/b.py',
          matches: [{ line: 1, text: 'import sys' }],
          match_count: 1,
          capped: false,
        },
      ],
      total_count: 2,
      has_more: false,
      offset: 0,
      literal: false,
    });
  });

  it('[SBX-SEARCH-03, SBX-SEARCH-04] takes a glob and lines of context', async () => {
    const parameters = { query: 'import', file_pattern: 'a.*', context_lines: 1 };
    expect(await must(service, 'SearchContent', parameters)).toMatchObject({
      files: [{ path: 'src/a.py', matches: [{ line: 1, before: [], after: ['print(os)'] }] }],
      total_count: 1,
    });
  });

  it('[WIRE-SEARCH-09, WIRE-SEARCH-10] takes plain text, and returns paths or counts alone', async () => {
    expect(await must(service, 'SearchContent', { query: 'print(os)', output: 'files' })).toEqual({
      files: [],
      ...{ total_count: 0, has_more: false, offset: 0, literal: false },
      note: 'Nothing matches the expression, but as plain text it is there in 1 file; set literal to find that.',
    });
    const plain = { query: 'print(os)', literal: true };
    expect(await must(service, 'SearchContent', { ...plain, output: 'files' })).toEqual({
      files: [{ path: 'src/a.py' }],
      ...{ total_count: 1, has_more: false, offset: 0, literal: true },
    });
    expect(await must(service, 'SearchContent', { ...plain, output: 'counts' })).toMatchObject({
      files: [{ path: 'src/a.py', match_count: 1 }],
    });
  });

  it('[SBX-SEARCH-05, SBX-SEARCH-06, WIRE-SEARCH-03] is paged', async () => {
    const page = (offset: number) =>
      must(service, 'SearchContent', { query: 'import', max_items: 2, offset });
    expect(await page(0)).toMatchObject({ total_count: 3, has_more: true, offset: 0 });
    expect(await page(2)).toMatchObject({
      files: [{ path: 'src/b.py' }],
      total_count: 3,
      has_more: false,
      offset: 2,
    });
  });

  it('[WIRE-SEARCH-05] shows when the query was plain text', async () => {
    expect(await must(service, 'SearchContent', { query: 'print(' })).toMatchObject({
      literal: true,
      total_count: 1,
    });
  });

  it('[SBX-SEARCH-01, SBX-SEARCH-04, SBX-SEARCH-05] refuses what is missing or out of range', async () => {
    for (const [parameters, parameter] of [
      [{}, 'query'],
      [{ query: '' }, 'query'],
      [{ query: 'x'.repeat(5_000) }, 'query'],
      [{ query: 'x', context_lines: 6 }, 'context_lines'],
      [{ query: 'x', max_items: 201 }, 'max_items'],
      [{ query: 'x', max_items: 0 }, 'max_items'],
      [{ query: 'x', offset: -1 }, 'offset'],
      [{ query: 'x', file_pattern: '[' }, 'file_pattern'],
      [{ query: '((a{1000}){1000}){1000}' }, 'query'],
    ] as const) {
      const expected = { status: 400, code: 'invalid_argument', parameter };
      expect(await refusal('SearchContent', parameters), parameter).toEqual(expected);
    }
    expect(await refusal('SearchContent', { query: 'x', path: 'nope' })).toMatchObject({ code: 'not_found' });
  });

  it('a query that backtracks without end is a timeout, with what to do next', async () => {
    await must(service, 'WriteFile', { path: '/srv/long', content: `${'a'.repeat(5_000)}bz\n` });
    const { status, body } = await call(service, 'SearchContent', { query: '^((a+)+)+\\2z$', path: '/srv' });
    expect({ status, code: body['code'] }).toEqual({ status: 504, code: 'timeout' });
    expect(body['hint']).toBeTypeOf('string');
  });
});

describe('Sandbox.ReplaceInFiles', () => {
  it('[SBX-REPLACE-01, SBX-REPLACE-02, SBX-REPLACE-03, SBX-REPLACE-04, WIRE-REPLACE-01] edits what globs name', async () => {
    const parameters = {
      pattern: 'import (\\w+)',
      replacement: 'use \\1',
      files: ['src/*.py', 'gone', '*.go'],
    };
    expect(await must(service, 'ReplaceInFiles', parameters)).toEqual({
      results: [
        { path: 'src/a.py', status: 'success', replacements: 1 },
        { path: 'src/b.py', status: 'success', replacements: 1 },
        { path: 'gone', status: 'error', replacements: 0, error: "'gone' does not exist." },
        { path: '*.go', status: 'error', replacements: 0, error: "'*.go' matches no file." },
      ],
      files_modified: 2,
      files_unchanged: 0,
      total_replacements: 2,
      literal: false,
    });
    expect(await must(service, 'ReadFile', { path: 'src/a.py' })).toMatchObject({
      content: 'use os\nprint(os)\n',
    });
  });

  it('[WIRE-REPLACE-06, WIRE-REPLACE-07, WIRE-REPLACE-08] counts what has no match, and leaves a dry run alone', async () => {
    const edit = { pattern: 'print(os)', replacement: 'x', files: ['src/*.py'] };
    expect(await must(service, 'ReplaceInFiles', edit)).toEqual({
      results: [],
      ...{ files_modified: 0, files_unchanged: 2, total_replacements: 0, literal: false },
      note: 'Nothing matches the expression, but as plain text it is there 1 time; set literal to find that.',
    });
    const dry = { ...edit, literal: true, dry_run: true };
    expect(await must(service, 'ReplaceInFiles', dry)).toEqual({
      results: [{ path: 'src/a.py', status: 'success', replacements: 1 }],
      ...{ files_modified: 0, files_unchanged: 1, total_replacements: 1, literal: true, dry_run: true },
    });
    expect(await must(service, 'ReplaceInFiles', { ...dry, exclude: ['a.*'] })).toMatchObject({
      results: [],
      files_unchanged: 1,
    });
  });

  it('[WIRE-REPLACE-01] has a row for a file that is named by its path, and no match', async () => {
    const edit = {
      pattern: 'nowhere',
      replacement: 'x',
      files: ['src/a.py', '/workspace/src/b.py', 'src/*.py'],
    };
    expect(await must(service, 'ReplaceInFiles', edit)).toMatchObject({
      results: [
        { path: 'src/a.py', status: 'success', replacements: 0 },
        { path: '/workspace/src/b.py', status: 'success', replacements: 0 },
      ],
      ...{ files_modified: 0, files_unchanged: 0, total_replacements: 0 },
    });
  });

  it('finds and replaces the end of lines that end with a carriage return, which stays', async () => {
    const path = 'dos/crlf.txt';
    await must(service, 'WriteFile', { path, content: 'one two\r\nthree\r\n\r\ntwo\n' });
    const lines = async (query: string) => {
      const { files } = await must(service, 'SearchContent', { query, path });
      return (files as { matches: { line: number }[] }[]).flatMap(({ matches }) =>
        matches.map(({ line }) => line),
      );
    };
    expect(await lines('two$')).toEqual([1, 4]);
    expect(await lines('^three$')).toEqual([2]);
    expect(await lines('^$')).toEqual([3]);
    const edit = (pattern: string, replacement: string) =>
      must(service, 'ReplaceInFiles', { pattern, replacement, files: [path] });
    expect(await edit('two$', '2')).toMatchObject({ total_replacements: 2 });
    expect(await edit('$', ';')).toMatchObject({ total_replacements: 4 });
    const content = 'one 2;\r\nthree;\r\n;\r\n2;\n';
    expect(await must(service, 'ReadFile', { path })).toMatchObject({ content });
    // As with sed, what matches the carriage return itself takes it away.
    await edit('\\s+$', '');
    expect(await must(service, 'ReadFile', { path })).toMatchObject({ content: 'one 2;\nthree;\n;\n2;\n' });
  });

  it('[SBX-REPLACE-01] refuses what is missing or cannot be', async () => {
    const whole = { pattern: 'a', replacement: 'b', files: ['notes.md'] };
    for (const [parameters, parameter] of [
      [{ replacement: 'b', files: ['a'] }, 'pattern'],
      [{ pattern: 'a', files: ['a'] }, 'replacement'],
      [{ pattern: 'a', replacement: 'b' }, 'files'],
      [{ ...whole, files: [] }, 'files'],
      [{ ...whole, files: Array(1_001).fill('a') }, 'files'],
      [{ ...whole, pattern: 'a\nb' }, 'pattern'],
      [{ ...whole, replacement: '\\1' }, 'replacement'],
    ] as const) {
      const expected = { status: 400, code: 'invalid_argument', parameter };
      expect(await refusal('ReplaceInFiles', parameters), parameter).toEqual(expected);
    }
  });

  it('needs a started sandbox, as SearchContent does', async () => {
    const { id } = await must(service, 'CreateSandbox', { name: 'resting', disk_gb: 2 });
    await must(service, 'StopSandbox', { sandbox: id });
    const edit = { pattern: 'a', replacement: 'b', files: ['x'], sandbox: id };
    expect(await refusal('ReplaceInFiles', edit)).toMatchObject({ code: 'invalid_state' });
    expect(await refusal('SearchContent', { query: 'a', sandbox: id })).toMatchObject({
      code: 'invalid_state',
    });
    await must(service, 'DeleteSandbox', { sandbox: id });
  });
});
