/** `bin/sandhaven` runs the program in few modules (setup/bundle.ts) for as long as no source is newer. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const checkout = join(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'sandhaven-bundle-'));
const at = (path: string, seconds: number) => utimesSync(join(work, path), seconds, seconds);

beforeAll(() => {
  cpSync(join(checkout, 'bin/sandhaven'), join(work, 'bin/sandhaven'), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(work, 'node_modules'));
  for (const [path, says] of [
    ['src/main.ts', 'source'],
    ['src/deep/part.ts', 'part'],
    ['package-lock.json', '{}'],
    ['bundle/main.mjs', 'bundle'],
  ] as const) {
    mkdirSync(join(work, path, '..'), { recursive: true });
    writeFileSync(join(work, path), path.endsWith('.json') ? says : `console.log('${says}');\n`);
  }
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

function says(): string {
  for (const folder of ['src', 'src/deep']) at(folder, 1_000);
  return spawnSync(join(work, 'bin/sandhaven'), { encoding: 'utf8' }).stdout.trim();
}

describe('the bundle', () => {
  it('is run where all sources are as old or older', () => {
    for (const path of ['src/main.ts', 'src/deep/part.ts', 'package-lock.json']) at(path, 1_000);
    at('bundle/main.mjs', 1_000);
    expect(says()).toBe('bundle');
  });

  it.each(['src/main.ts', 'src/deep/part.ts', 'package-lock.json'])(
    'gives way to the sources once %s is newer',
    (path) => {
      at(path, 1_001);
      expect(says()).toBe('source');
      at(path, 1_000);
      expect(says()).toBe('bundle');
    },
  );

  it('is not needed', () => {
    rmSync(join(work, 'bundle'), { recursive: true });
    expect(says()).toBe('source');
  });
});
