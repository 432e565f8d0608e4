/** Results of the tools for files. */
import type { Sample, Samples } from './sample.ts';

const entries = [
  { name: 'src', type: 'dir', size: 4_096, link: false },
  { name: 'now', type: 'file', size: 7, link: true },
];

const read = {
  path: 'notes.md',
  content: 'one\ntwo\n',
  encoding: 'utf-8',
  size: 8,
  total_lines: 2,
  start_line: 1,
  end_line: 2,
};

const match = { line: 12, text: 'a match' };
const page = { total_count: 2, has_more: false, offset: 0, literal: false };

const searches: Sample[] = [
  {
    result: {
      files: [
        { path: 'a', matches: [match, { ...match, line: 14 }], match_count: 2, capped: false },
        { path: 'b', matches: [{ ...match, before: ['around'], after: [] }], match_count: 50, capped: true },
      ],
      ...page,
    },
    says: {
      files:
        /^2 files match\.\na \(2 lines\)\n12: a match\n14: a match\nb \(50 lines, and more\)\n11- around\n12: a match$/,
      path: '\nb (50',
      matches: '\n12: a match\n14: a match\n',
      total_count: '2 files match.',
      capped: 'and more',
      line: '12: ',
      text: 'a match',
      before: '11- around',
      after: 'a match',
    },
  },
  {
    result: { files: [{ path: 'a' }], ...page, total_count: 9, has_more: true, offset: 4, literal: true },
    says: {
      has_more: '9 files match as plain text; here 5-5; offset 5 has more.\na',
      literal: 'as plain text',
    },
  },
  {
    result: { files: [{ path: 'a', match_count: 1 }], ...page, total_count: 1 },
    says: { match_count: '1 file matches.\na (1 line)' },
  },
  {
    result: { files: [], ...page, total_count: 0, note: 'As plain text it is there in 3 files.' },
    says: { note: '0 files match. As plain text it is there in 3 files.' },
  },
];

const replaced = {
  results: [
    { path: 'a', status: 'success', replacements: 12 },
    { path: 'b', status: 'error', replacements: 0, error: "'b' does not exist." },
  ],
  files_modified: 1,
  files_unchanged: 3,
  total_replacements: 12,
  literal: false,
};

const replacements: Sample[] = [
  {
    result: replaced,
    says: {
      error: "'b' does not exist.",
      path: 'error b:',
      replacements: '12 a',
      results: "1 error.\nerror b: 'b' does not exist.\n12 a",
      files_modified: 'in 1 file;',
      files_unchanged: '3 files without a match',
      total_replacements: '12 replacements',
    },
  },
  {
    result: { ...replaced, results: [], literal: true, dry_run: true, note: 'It is there.' },
    says: {
      dry_run: /^Dry run, nothing is changed: /,
      literal: 'the pattern was plain text (literal)',
      note: 'It is there.',
    },
  },
];

export const fileSamples: Samples = {
  'Sandbox.ListFiles': [
    {
      result: { path: '.', files: entries, total_count: 2, has_more: false, offset: 0 },
      says: {
        path: '.: 2 entries.',
        files: 'dir 4096 src\nfile 7 now (a link)',
        name: 'src',
        type: 'dir ',
        size: ' 4096 ',
        link: '(a link)',
      },
    },
    {
      result: { path: 'x', files: entries, total_count: 7, has_more: true, offset: 3 },
      says: { total_count: 'x: 7 entries; here 4-5', has_more: 'offset 5 has more.' },
    },
  ],
  'Sandbox.FindFiles': [
    {
      result: { paths: ['a', 'b/c'], total_count: 7, has_more: true, offset: 0 },
      says: { paths: '\na\nb/c', total_count: '7 paths found; here 1-2', has_more: 'offset 2 has more.' },
    },
  ],
  'Sandbox.GetFileInfo': [
    {
      result: {
        path: 'a',
        type: 'file',
        size: 1_024,
        permissions: 'rwxr-xr-x',
        mode: '0755',
        owner: 'root',
        group: 'staff',
        modified_time: '2026-01-02T03:04:05.000Z',
      },
      says: {
        path: /^a: /,
        type: 'file,',
        size: '1024 bytes',
        permissions: 'rwxr-xr-x',
        mode: '0755',
        owner: 'owner root',
        group: 'group staff',
        modified_time: 'modified 2026-01-02T03:04:05.000Z',
      },
    },
  ],
  'Sandbox.ReadFile': [
    {
      result: read,
      says: {
        path: '[notes.md: lines 1-2 of 2, 8 bytes, utf-8]\none\ntwo\n',
        content: /\none\ntwo\n$/,
        size: '8 bytes',
        total_lines: 'of 2,',
        start_line: 'lines 1-',
        end_line: '-2 of',
      },
    },
    {
      result: { ...read, content: 'one\ntwo', size: 7 },
      says: { content: '7 bytes, utf-8, no newline at its end]\none\ntwo' },
    },
    {
      result: { ...read, content: '/wA=', encoding: 'base64', size: 2, total_lines: 1, end_line: 1 },
      says: { encoding: '2 bytes, base64]\n/wA=' },
    },
    {
      result: { ...read, content: '', start_line: 9, end_line: 8 },
      says: { content: '[notes.md: no lines of 2, 8 bytes, utf-8]\n' },
    },
    {
      result: { ...read, content: `${'x'.repeat(99)}\n`.repeat(400), size: 40_000, total_lines: 400 },
      says: { content: /\n\[the text ends here; start_line 159 goes on\]$/ },
    },
  ],
  'Sandbox.WriteFile': [
    {
      result: { path: 'a', bytes_written: 5, created: true },
      says: { path: 'Created a', bytes_written: '5 bytes', created: 'Created' },
    },
    { result: { path: 'a', bytes_written: 5, created: false }, says: { created: 'Replaced' } },
  ],
  'Sandbox.CreateFolder': [
    {
      result: { path: 'a', created: true, mode: '0750' },
      says: { path: 'Created a', created: 'Created', mode: 'mode 0750' },
    },
    { result: { path: 'a', created: false, mode: '0755' }, says: { created: 'created: false' } },
  ],
  'Sandbox.MoveFile': [
    { result: { source: 'a', destination: 'b' }, says: { source: 'Moved a', destination: 'to b' } },
  ],
  'Sandbox.DeleteFile': [
    { result: { path: 'a', deleted: true }, says: { path: 'Deleted a', deleted: 'Deleted' } },
  ],
  'Sandbox.SearchContent': searches,
  'Sandbox.ReplaceInFiles': replacements,
};
