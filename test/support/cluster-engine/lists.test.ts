/** No test of the system is forgotten on the other engine. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { onBothEngines, onOneMachine } from './lists.ts';

const root = join(import.meta.dirname, '../../..');

it('each test of the system runs on both engines, or has a reason', () => {
  const all = globSync('test/system/**/*.test.ts', { cwd: root }).toSorted();
  const listed = [
    ...onBothEngines.filter((file) => file.startsWith('test/system/')),
    ...Object.keys(onOneMachine),
  ];
  expect(listed.toSorted()).toEqual(all);
});
