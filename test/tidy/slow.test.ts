/** A test over ten seconds belongs into a part of `make test-deep`, or its file says in one line why not. */
import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { deepFiles } from '../deep/parts.ts';
import { testFiles } from '../quick.ts';
import { slow } from '../slow.ts';

it('names only files that `make test` has', () => {
  const { quick, others } = testFiles();
  const ofMakeTest = [...quick, ...others].filter(
    (file) => !deepFiles.some((glob) => matchesGlob(file, glob)),
  );
  expect(Object.keys(slow).filter((file) => !ofMakeTest.includes(file))).toEqual([]);
});

it('gives each a reason of one line', () => {
  expect(Object.values(slow).filter((reason) => !/^[a-z].{10,100}[^.]$/.test(reason))).toEqual([]);
});
