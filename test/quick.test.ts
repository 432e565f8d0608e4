/** The fast loop's tests need nothing of the machine, and are found by what they import. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadedWith, testFiles, wayToProgram } from './quick.ts';

const root = join(import.meta.dirname, '..');
const itself = 'test/quick.test.ts';
const { quick, others } = testFiles();

describe('quick tests', () => {
  it.each(['test/bench/', 'test/catalog/', 'test/control/', 'test/documentdb-unit/'])(
    'are all of %s',
    (area) => {
      const slow = others.filter((file) => file.startsWith(area));
      expect(slow.map((file) => wayToProgram(file)?.join(' > ') ?? file)).toEqual([]);
      expect(quick.some((file) => file.startsWith(area))).toBe(true);
    },
  );

  it.each([
    'test/chaos/',
    'test/documentdb/',
    'test/examples/',
    'test/hostile/',
    'test/isolation/',
    'test/system/',
  ])('are none of %s', (area) => {
    expect(quick.filter((file) => file.startsWith(area))).toEqual([]);
    expect(others.some((file) => file.startsWith(area))).toBe(true);
  });

  it.each([
    ['the test itself', 'test/setup/clean-room.test.ts', ['test/setup/clean-room.test.ts']],
    [
      'a service that it starts',
      'test/system/lifecycle.test.ts',
      ['test/system/lifecycle.test.ts', 'test/support/service.ts'],
    ],
    [
      'a sandbox that it makes',
      'test/agent-link/sessions/terminal.test.ts',
      ['test/agent-link/sessions/terminal.test.ts', 'test/agent-link/scratch-sandbox.ts'],
    ],
  ])('are without %s that starts a program', (_what, file, way) => {
    expect(wayToProgram(file)).toEqual([...way, 'node:child_process']);
  });

  it('are without a part of the service that starts a program', () => {
    const [first, second] = ['src/runtime/programs/run-program.ts', 'src/runtime/start-program.ts'];
    expect(wayToProgram(first)).toEqual([first, second, 'node:child_process']);
  });

  it('do nothing that only root may, and read nothing that is built', () => {
    const needs = /\b(?:l?chown(?:Sync)?|mknod|set[ug]id|getuid)\(|native\/target|\.cache\/sandhaven/;
    const loaded = new Set(quick.flatMap((file) => [...loadedWith(file).keys()]));
    const tests = [...loaded].filter((file) => /^(?:sdk\/)?test\/.*\.ts$/.test(file) && file !== itself);
    expect(tests.filter((file) => needs.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });
});
