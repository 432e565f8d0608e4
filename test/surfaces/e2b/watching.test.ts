/** Changes of files as E2B's clients read them. */
import { expect, it } from 'vitest';
import { shown } from '../../../src/surfaces/e2b/envd/watching.ts';

const FOLDER = '/home/user/w';
const TEMPORARY = '.sandhaven-0123456789abcdef.tmp';
const told = (change: Parameters<typeof shown>[2]) => shown(FOLDER, '/home/user', change);

it('a file that comes was written, too, and a folder was not', () => {
  expect(told({ type: 'created', path: 'w/a', folder: false })).toEqual([
    { name: 'a', type: 'EVENT_TYPE_CREATE' },
    { name: 'a', type: 'EVENT_TYPE_WRITE' },
  ]);
  expect(told({ type: 'created', path: 'w/b', folder: true })).toEqual([
    { name: 'b', type: 'EVENT_TYPE_CREATE' },
  ]);
});

it('a file that takes the place of another was written', () => {
  expect(told({ type: 'created', path: `w/s/${TEMPORARY}`, folder: false })).toEqual([]);
  expect(told({ type: 'renamed', path: 'w/s/a', from: `w/s/${TEMPORARY}`, folder: false })).toEqual([
    { name: 's/a', type: 'EVENT_TYPE_WRITE' },
  ]);
});

it('a rename is one of the old name and a creation of the new one', () => {
  expect(told({ type: 'renamed', path: 'w/b', from: 'w/a', folder: true })).toEqual([
    { name: 'a', type: 'EVENT_TYPE_RENAME' },
    { name: 'b', type: 'EVENT_TYPE_CREATE' },
  ]);
});

it.each([
  ['written', 'EVENT_TYPE_WRITE'],
  ['removed', 'EVENT_TYPE_REMOVE'],
  ['attributes', 'EVENT_TYPE_CHMOD'],
] as const)('what was %s is %s', (type, name) => {
  expect(told({ type, path: '/home/user/w/a', folder: false })).toEqual([{ name: 'a', type: name }]);
});

it('of changes that were missed nothing is told', () => {
  expect(told({ type: 'overflow' })).toEqual([]);
});
