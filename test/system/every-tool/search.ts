/** Searching for content, and replacing what was found. */
import { expect } from 'vitest';
import type { Walk } from './walk.ts';

export const search: Walk = async (ok) => {
  await ok('WriteFile', { path: 'walk/poem.txt', content: 'the rain\nin spain\n' });
  expect(await ok('SearchContent', { query: 's?pain|rain$', path: 'walk', context_lines: 1 })).toMatchObject({
    files: [
      {
        path: 'walk/poem.txt',
        matches: [
          { line: 1, text: 'the rain', before: [], after: ['in spain'] },
          { line: 2, text: 'in spain', before: ['the rain'], after: [] },
        ],
      },
    ],
    total_count: 1,
    has_more: false,
    literal: false,
  });
  const edit = { pattern: '(r)ain', replacement: '\\1ose', files: ['walk/*.txt', 'walk/none'] };
  expect(await ok('ReplaceInFiles', edit)).toMatchObject({
    results: [
      { path: 'walk/poem.txt', status: 'success', replacements: 1 },
      { path: 'walk/none', status: 'error', replacements: 0 },
    ],
    files_modified: 1,
  });
  expect(await ok('ReadFile', { path: 'walk/poem.txt' })).toMatchObject({ content: 'the rose\nin spain\n' });
  await ok('DeleteFile', { path: 'walk', recursive: true });
};
