/** Output of programs in results: unchanged with a status behind it, and as a text with both streams apart. */
import { describe, expect, it } from 'vitest';
import { asPrinted, printedText } from '../../src/catalog/base/printed.ts';

describe('output for a terminal', () => {
  it.each([
    ['out\n', null, 'out\n'],
    ['', null, ''],
    ['out\n', 'exit 1', 'out\n[exit 1]'],
    ['out', 'exit 1', 'out\n[exit 1]'],
    ['', 'exit 1', '[exit 1]'],
    ['\nout', 'exit 1', '\nout\n[exit 1]'],
  ])('%j with the status %j is %j', (output, stand, shown) => {
    expect(asPrinted(output, stand)).toBe(shown);
  });
});

describe('output for a text', () => {
  const text = (output: string, stdout?: string, stderr?: string) =>
    printedText({ output, stdout, stderr }, ['exit code 0']);

  it('names the only stream with output', () => {
    expect(text('a\n', 'a\n', '')).toBe('a\n[exit code 0, all of it on stdout]');
    expect(text('a\n', '', 'a\n')).toBe('a\n[exit code 0, all of it on stderr]');
  });

  it('names no stream where they are not known apart', () => {
    expect(text('a\n')).toBe('a\n[exit code 0]');
  });

  it('is (no output) without any', () => {
    expect(text('', '', '')).toBe('(no output)\n[exit code 0]');
  });

  it('notes a missing newline at the end', () => {
    expect(text('a')).toBe('a\n[no newline at the end]\n[exit code 0]');
  });

  it.each([
    ['a\nb\n', 'a\n', 'b\n'],
    ['b\na\n', 'a\n', 'b\n'],
  ])('shows the streams apart when one follows the other: %j', (output, stdout, stderr) => {
    expect(text(output, stdout, stderr)).toBe('stdout:\na\nstderr:\nb\n[exit code 0]');
  });

  it('shows interleaved output in its own order first', () => {
    expect(text('a\nb\nc\n', 'a\nc\n', 'b\n')).toBe(
      'as it came:\na\nb\nc\nstdout:\na\nc\nstderr:\nb\n[exit code 0]',
    );
  });

  it('puts further lines before the status', () => {
    expect(printedText({ output: 'a\n' }, ['exit code 0'], ['1 chart'])).toBe('a\n1 chart\n[exit code 0]');
  });
});
