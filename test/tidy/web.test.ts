/** The rules that keep the page readable and harmless. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circle, importsOf } from '../support/imports.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('web/{src,build}/**/*.{ts,tsx}', { cwd: root }).toSorted();
const page = sources.filter((file) => file.startsWith('web/src/') && !file.endsWith('.d.ts'));
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(read('web/package.json'));

const MAX_LINES = 300;

describe('the page', () => {
  it('imports its own files, its own packages and the SDK, and nothing of the service', () => {
    const wrong = page.flatMap((file) =>
      importsOf(read(file))
        .filter(({ target }) => !isAllowed(file, target))
        .map(({ target }) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has no import circle, types included', () => {
    const graph = page.map((file) => [file, targetsOf(file)] as const);
    expect(circle(new Map(graph))).toEqual([]);
  });

  it('makes no HTML of text, and no code of it', () => {
    const makers =
      /dangerouslySetInnerHTML|\b(?:innerHTML|outerHTML|insertAdjacentHTML|srcDoc)\b|document\.write|\beval\(|new Function\(/;
    expect(page.filter((file) => makers.test(read(file)))).toEqual([]);
  });

  it('asks nothing again and again', () => {
    expect(page.filter((file) => /refetchInterval/.test(read(file)))).toEqual([]);
    expect(page.filter((file) => /setInterval\(/.test(read(file)))).toEqual(['web/src/parts/now.ts']);
  });

  it('has exact versions of its packages', () => {
    const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
      read('web/package.json'),
    );
    const versions = Object.values({ ...dependencies, ...devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  function isAllowed(file: string, target: string): boolean {
    if (target.startsWith('.')) return normalize(join(dirname(file), target)).startsWith('web/src/');
    if (target === '@sandhaven/sdk' || target === 'virtual:theme.css') return true;
    return Object.keys(dependencies).some((name) => target === name || target.startsWith(`${name}/`));
  }

  function targetsOf(file: string): string[] {
    return importsOf(read(file))
      .map(({ target }) => normalize(join(dirname(file), target)))
      .filter((target) => page.includes(target));
  }
});

describe('files of the page', () => {
  it(`are at most ${MAX_LINES} lines long`, () => {
    expect(sources.filter((file) => read(file).split('\n').length - 1 > MAX_LINES)).toEqual([]);
  });

  it('begin with a comment that gives their purpose, and have no doc comment that begins with a clause', () => {
    const silent = sources.filter(
      (file) => !/^(?:\/\*\*|\/\/\/)/.test(read(file)) && basename(file) !== 'vite.config.ts',
    );
    expect(silent).toEqual([]);
    const clause = /\/\*\*\s+(?:\*\s+)?(?:What|How|Whether|Who|Whose|Which|That|Where|When|Why)\b[^\n]*/g;
    const found = sources.flatMap((file) =>
      (read(file).match(clause) ?? []).map((text) => `${file}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
