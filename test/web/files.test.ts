/** Paths, kinds of files, links and output: all that comes out of a sandbox is hostile. */
import { describe, expect, it } from 'vitest';
import { shownTypeOf } from '../../src/control/access/file-previews.ts';
import { safeHref } from '../../web/src/sandbox/files/reading/links.ts';
import {
  absolute,
  endingOf,
  imageTypeOf,
  isBinary,
  joined,
  kindOf,
  nameFault,
  nameOf,
  parentOf,
  readFilesSearch,
  textOf,
} from '../../web/src/sandbox/files/reading/paths.ts';
import { plainText } from '../../web/src/sandbox/plain-text.ts';

describe('paths', () => {
  it('are taken apart and put together', () => {
    expect(joined('/', 'etc')).toBe('/etc');
    expect(joined('/workspace', 'a b')).toBe('/workspace/a b');
    expect(parentOf('/etc')).toBe('/');
    expect(parentOf('/workspace/a/b')).toBe('/workspace/a');
    expect(nameOf('/workspace/a')).toBe('a');
    expect(absolute('src/main.py')).toBe('/workspace/src/main.py');
    expect(absolute('/etc/hosts')).toBe('/etc/hosts');
  });

  it('are read from the address', () => {
    expect(readFilesSearch({ path: '/a', file: 7, line: '3' })).toEqual({ path: '/a', file: '7', line: 3 });
    expect(readFilesSearch({ line: -1 })).toEqual({});
  });

  it('have names without a slash', () => {
    expect(nameFault('a.txt')).toBeNull();
    expect(nameFault('a/b')).toBe('A name cannot have a slash.');
    expect(nameFault('..')).toBe('This name is reserved for a folder.');
    expect(nameFault('ä'.repeat(128))).toBe('A name has at most 255 bytes.');
  });

  it.each([
    ['/a/photo.JPG', 'image'],
    ['/a/report.pdf', 'pdf'],
    ['/a/data.csv', 'table'],
    ['/a/README.md', 'markdown'],
    ['/a/sales.ipynb', 'notebook'],
    ['/a/main.py', 'text'],
    ['/a/.csv', 'text'],
    ['/a/x.constructor', 'text'],
  ])('%s is shown as %s', (path, kind) => expect(kindOf(path)).toBe(kind));

  it.each([
    ['/a/photo.JPG', true],
    ['/a/report.pdf', true],
    ['/a/drawing.svg', false],
    ['/a/main.py', false],
  ])('%s is edited by nobody: %s', (path, is) => expect(isBinary(path)).toBe(is));

  it.each([
    ['png', 'image/png'],
    ['jpg', 'image/jpeg'],
    ['jpeg', 'image/jpeg'],
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
    ['avif', 'image/avif'],
    ['bmp', 'image/bmp'],
    ['ico', 'image/x-icon'],
    ['svg', 'image/svg+xml'],
  ])('that end as %s are shown as %s, by the page and by the service', (ending, type) => {
    expect(kindOf(`/a/x.${ending}`)).toBe('image');
    expect(imageTypeOf(`/a/x.${ending}`)).toBe(type);
    expect(shownTypeOf(`/a/x.${ending}`)).toBe(type);
  });

  it('have an ending behind the last dot', () => {
    expect(endingOf('/a.b/c')).toBe('');
    expect(endingOf('/a/x.tar.gz')).toBe('gz');
  });
});

describe('bytes', () => {
  it('are text when they are UTF-8 without a zero', () => {
    expect(textOf(new TextEncoder().encode('häuser'), { cut: false })).toBe('häuser');
    expect(textOf(new Uint8Array([0x68, 0, 0x69]), { cut: false })).toBeNull();
    expect(textOf(new Uint8Array([0xff, 0xfe]), { cut: false })).toBeNull();
  });

  it('may end within a character where they were cut', () => {
    const half = new Uint8Array([0x61, 0xc3]);
    expect(textOf(half, { cut: true })).toBe('a');
    expect(textOf(half, { cut: false })).toBeNull();
  });
});

describe('links', () => {
  it.each([
    ['https://example.org/a', 'https://example.org/a'],
    ['mailto:a@example.org', 'mailto:a@example.org'],
    ['javascript:alert(1)', null],
    [' JaVaScRiPt:alert(1)', null],
    ['data:text/html,x', null],
    ['blob:https://example.org/1', null],
    ['/v1/tools', null],
    ['', null],
  ])('%j leads to %j', (href, expected) => expect(safeHref(href)).toBe(expected));
});

describe('output', () => {
  it.each([
    ['\u001b[31mred\u001b[0m text', 'red text'],
    ['\u001b]0;title\u0007kept', 'kept'],
    ['10 %\r50 %\r100 %\ndone', '100 %\ndone'],
    ['a\r\nb', 'a\nb'],
    ['bell\u0007\tend', 'bell\tend'],
    ['\u001b[2J\u001b(Bclear', 'clear'],
  ])('%j is shown as %j', (printed, shown) => expect(plainText(printed)).toBe(shown));
});
