/** .dockerignore: which files a pattern leaves out. Cases of docs.docker.com, and of moby's own tests in other words. */
import { describe, expect, it } from 'vitest';
import { ignoredBy } from '../../src/model/dockerignore.ts';
import { matchesPath, namesOf } from '../../src/model/globs.ts';

const ignored = (patterns: string, ...paths: string[]) => paths.filter(ignoredBy(patterns));

describe('.dockerignore', () => {
  it('leaves out a file or folder by its path from the root, with all below a folder', () => {
    const paths = ['node_modules/a/b.js', 'src/node_modules/c.js', 'a.log', 'src/a.log'];
    expect(ignored('node_modules\n/a.log', ...paths)).toEqual(['node_modules/a/b.js', 'a.log']);
  });

  it('takes * within one name, and ** for any number of folders', () => {
    const paths = ['temp', 'a/temp1', 'a/b/temp', 'a/b/c/x.go', 'x.go', 'a/b.go'];
    expect(ignored('*/temp*', ...paths)).toEqual(['a/temp1']);
    expect(ignored('*/*/temp*', ...paths)).toEqual(['a/b/temp']);
    expect(ignored('**/*.go', ...paths)).toEqual(['a/b/c/x.go', 'x.go', 'a/b.go']);
    expect(ignored('temp?', ...paths)).toEqual([]);
    expect(ignored('a/[bc]', ...paths)).toEqual(['a/b/temp', 'a/b/c/x.go']);
    expect(ignored('a/[^bc]*', ...paths)).toEqual(['a/temp1']);
  });

  it('takes what ! names back in, and lets the last pattern decide', () => {
    const paths = ['README.md', 'README-secret.md', 'a.md', 'docs/b.md'];
    expect(ignored('*.md\n!README*.md\nREADME-secret.md', ...paths)).toEqual(['README-secret.md', 'a.md']);
    expect(ignored('*.md\nREADME-secret.md\n!README*.md', ...paths)).toEqual(['a.md']);
    expect(ignored('docs\n!docs/b.md', 'docs/a.md', 'docs/b.md')).toEqual(['docs/a.md']);
  });

  it('skips comments and empty lines, and cleans patterns', () => {
    expect(ignored('# a\n\n  ./b//c/../d \n', 'a', 'b/d', 'b/c')).toEqual(['b/d']);
  });

  it('refuses more patterns than are taken', () => {
    expect(() => ignoredBy('a\n'.repeat(501))).toThrow('more than 500 patterns');
  });
});

describe('globs', () => {
  it('match hostile patterns in time', () => {
    const begun = performance.now();
    const pattern = namesOf(`${'**/'.repeat(100)}${'*a'.repeat(200)}b`);
    expect(matchesPath(pattern, namesOf(`${'x/'.repeat(100)}${'a'.repeat(200)}`))).toBe(false);
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  it('take a backslash for the character behind it', () => {
    expect(matchesPath(['a\\*'], ['a*'])).toBe(true);
    expect(matchesPath(['a\\*'], ['ab'])).toBe(false);
  });
});
