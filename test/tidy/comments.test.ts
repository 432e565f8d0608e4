/** Comments of the source cite only files that are in the repository. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const folders =
  'src,native,protocol,sdk,sdk-python,packages,web,images,setup,deploy,bench,examples,docs,test';
const everything = globSync([`{${folders}}/**/*.*`, '*.*'], {
  cwd: root,
  exclude: ['**/node_modules/**', '**/target/**', '**/dist/**', '**/.venv/**'],
});
/** Tests whose texts hold comments of no file. */
const withFixtures = ['test/tidy.test.ts', 'test/tidy/comments.test.ts'];
const sources = everything.filter(
  (file) => /\.(?:ts|tsx|mjs|rs|css|py|sh|pl|toml|yaml|yml)$/.test(file) && !withFixtures.includes(file),
);

describe('comments', () => {
  const byName = Map.groupBy(everything, (file) => basename(file));

  it('cite files that are there', () => {
    expect(sources.length).toBeGreaterThan(1_000);
    const missing = sources.flatMap((file) =>
      citedIn(file, readFileSync(join(root, file), 'utf8'))
        .filter((cited) => !isThere(cited))
        .map((cited) => `${file}: ${cited}`),
    );
    expect(missing).toEqual([]);
  });

  it('are found, with what they cite', () => {
    expect(citedIn('a.ts', `/** As in one.md. */\n * two/three.ts\nrun(); // four.rs\n'five.md';`)).toEqual([
      'one.md',
      'two/three.ts',
      'four.rs',
    ]);
    expect(citedIn('a.ts', `// *.test.ts and a.ts(1), https://example.org/b.md`)).toEqual([]);
    expect(citedIn('a.sh', `run # as in one.md\necho "#two.md"`)).toEqual(['one.md']);
    expect(isThere('docs/contract.md')).toBe(true);
    expect(isThere('./tidy/comments.test.ts')).toBe(true);
    expect(isThere('no/such/contract.md')).toBe(false);
    expect(isThere('no-such-file.md')).toBe(false);
  });

  /** By its path, or by the end of it, as beside a neighbour. */
  function isThere(cited: string): boolean {
    const path = cited.replace(/^(?:\.{1,2}\/)+/, '');
    const named = byName.get(basename(path)) ?? [];
    return named.some((file) => file === path || file.endsWith(`/${path}`));
  }
});

function citedIn(file: string, source: string): string[] {
  const hash = /\.(?:py|sh|pl|toml|ya?ml)$/.test(file);
  const comment = hash ? /(?:^|\s)#(.*)/ : /(?:^\s*(?:\/\*+|\*)|(?:^|\s)\/\/)(.*)/;
  const citation = /(?<![\w@.*/{}:-])[\w./-]*\w\.(?:md|tsx?|rs|py|sh|css)(?!\w|\.\w|\()/g;
  return source.split('\n').flatMap((line) => comment.exec(line)?.[1]?.match(citation) ?? []);
}
