/** Contexts of builds: what of a tar is taken, what a source of COPY means, what a step's key depends on. */
import { describe, expect, it } from 'vitest';
import { Context } from '../../../src/control/builds/context.ts';
import { selectedOf } from '../../../src/control/builds/copy.ts';
import type { Copying } from '../../../src/control/builds/interpret.ts';
import { type Given, memorySpools, tarOf } from './archives.ts';

const spools = memorySpools();

const contextOf = (files: Given) => Context.receive(spools.open, tarOf(files));

const copying = (...sources: string[]): Copying => ({
  ...{
    kind: 'copy',
    sources,
    target: '/to/',
    from: null,
    chown: null,
    chmod: null,
    unpacks: false,
    inline: [],
  },
});
const selected = async (context: Context, ...sources: string[]) =>
  (await selectedOf(context, copying(...sources), 3)).map(({ path, file }) => [path, file.type]);

const files: Given = {
  './src/main.ts': 'main',
  'src/lib/a.js': 'a',
  'src/lib/b.js': 'b',
  'src/lib/link': { type: 'link', target: '../main.ts' },
  'hard.ts': { type: 'hardlink', target: 'src/main.ts' },
  'to-lib': { type: 'link', target: 'src/lib' },
  'one.txt': '1',
};

describe('COPY', () => {
  it('takes a file under its name, and the content of a folder', async () => {
    const context = await contextOf(files);
    expect(await selected(context, 'one.txt')).toEqual([['one.txt', 'file']]);
    expect(await selected(context, '/src/./main.ts', 'src/lib/')).toEqual([
      ['main.ts', 'file'],
      ['a.js', 'file'],
      ['b.js', 'file'],
      ['link', 'link'],
    ]);
    expect(await selected(context, '../src')).toEqual([
      ['lib', 'folder'],
      ['lib/a.js', 'file'],
      ['lib/b.js', 'file'],
      ['lib/link', 'link'],
      ['main.ts', 'file'],
    ]);
    expect(await selected(context, '.')).toHaveLength(9);
  });

  it('follows a link that a source names, and matches globs within one folder', async () => {
    const context = await contextOf(files);
    expect(await selected(context, 'to-lib')).toHaveLength(3);
    expect(await selected(context, 's*/lib/[ab].js')).toEqual([
      ['a.js', 'file'],
      ['b.js', 'file'],
    ]);
    expect(await selected(context, '*.ts')).toEqual([['hard.ts', 'file']]);
    await expect(selected(context, 'src/*.none')).rejects.toThrow(
      "Line 3: 'src/*.none' is not in the context.",
    );
    await expect(selected(context, 'none')).rejects.toThrow("Line 3: 'none' is not in the context.");
  });

  it('has the digest of the content, and not the time', async () => {
    const [first] = await selectedOf(await contextOf(files), copying('hard.ts'), 3);
    expect(first?.file.digest).toBe('0d6e4079e36703ebd37c00722f5891d28b0e2811dc114b129215123adcce3605');
    const [again] = await selectedOf(await contextOf({ 'hard.ts': 'main' }), copying('hard.ts'), 3);
    const [other] = await selectedOf(await contextOf({ 'hard.ts': 'maim' }), copying('hard.ts'), 3);
    expect(again?.file.digest).toBe(first?.file.digest);
    expect(other?.file.digest).not.toBe(first?.file.digest);
  });
});

describe('the context', () => {
  it('is without what the ignore file of its Dockerfile names, and keeps folders for exceptions', async () => {
    const ignoring = {
      ...files,
      '.dockerignore': '*.txt\n',
      'x/Dockerfile.dockerignore': 'src/*\n!src/lib/a.js\n',
    };
    const context = await contextOf(ignoring);
    await context.ignore('x/Dockerfile');
    expect(await selected(context, 'src')).toEqual([
      ['lib', 'folder'],
      ['lib/a.js', 'file'],
    ]);
    expect(await selected(context, 'one.txt')).toHaveLength(1);
    const usual = await contextOf(ignoring);
    await usual.ignore('Dockerfile');
    await expect(selected(usual, 'one.txt')).rejects.toThrow("'one.txt' is not in the context");
    expect(await usual.text('src/main.ts', 10)).toBe('main');
  });

  it('is refused with paths out of it, and past its bounds, and its room is given back', async () => {
    const before = spools.count;
    await expect(contextOf({ 'a/../../b': 'x' })).rejects.toThrow(
      "the path 'a/../../b', which leads out of it",
    );
    await expect(contextOf({ hard: { type: 'hardlink', target: 'none' } })).rejects.toThrow(
      'is a hard link to no file before it',
    );
    await expect(contextOf({ large: { size: 600 * 1024 * 1024 } })).rejects.toMatchObject({
      code: 'too_large',
    });
    await expect(contextOf({ [`${'d/'.repeat(128)}e`]: 'x' })).rejects.toMatchObject({ code: 'too_large' });
    expect(spools.count).toBe(before);
  });

  it('ends no work for links in a circle', async () => {
    const context = await contextOf({ a: { type: 'link', target: 'b' }, b: { type: 'link', target: '/a' } });
    await expect(selected(context, 'a')).rejects.toThrow("'a' is not in the context");
  });
});
