/** Tar streams: what is written is read again, by this code and by tar; what is hostile is refused. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { readTar, type TarEntry, tarEnd, tarHeader, tarPadding } from '../../src/model/tar.ts';

const file: TarEntry = {
  path: 'a',
  type: 'file',
  mode: 0o640,
  uid: 1,
  gid: 2,
  mtime: 86_400,
  size: 3,
  target: '',
};
const long = `${'long/'.repeat(60)}ünïcode`;

const packed = (entry: TarEntry, text = '') =>
  Buffer.concat([tarHeader(entry), Buffer.from(text), tarPadding(text.length)]);

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, size = 1_000) {
  const found: (TarEntry & { text: string })[] = [];
  for await (const { entry, content } of readTar(inPieces(bytes, size), 100_000)) {
    let text = '';
    for await (const piece of content) text += piece.toString();
    found.push({ ...entry, text });
  }
  return found;
}

const all = Buffer.concat([
  packed(file, 'abc'),
  packed({ ...file, path: long, size: 2 }, 'xy'),
  packed({ ...file, path: 'l', type: 'link', size: 0, target: long }),
  packed({ ...file, path: 'h', type: 'hardlink', size: 0, target: 'a' }),
  packed({ ...file, path: 'd/', type: 'folder', mode: 0o755, size: 0 }),
  tarEnd(),
]);

it('what is written is read again, in whatever pieces it comes', async () => {
  for (const size of [1, 511, 512, 100_000]) {
    expect(await read(all, size)).toEqual([
      { ...file, text: 'abc' },
      { ...file, path: long, size: 2, text: 'xy' },
      { ...file, path: 'l', type: 'link', size: 0, target: long, text: '' },
      { ...file, path: 'h', type: 'hardlink', size: 0, target: 'a', text: '' },
      { ...file, path: 'd/', type: 'folder', mode: 0o755, size: 0, text: '' },
    ]);
  }
});

it('tar reads it', () => {
  const listed = execFileSync('tar', ['-tvf', '-', '--utc', '--numeric-owner', '--quoting-style=literal'], {
    input: all,
    encoding: 'utf8',
  });
  const lines = listed.trim().split('\n');
  expect(lines[0]).toMatch(/^-rw-r----- 1\/2 +3 1970-01-02 00:00 a$/);
  expect(lines[1]).toContain(` ${long}`);
  expect(lines[2]).toContain(` l -> ${long}`);
  expect(lines[3]).toContain(' h link to a');
});

it.each(['posix', 'gnu', 'ustar', 'v7'])('reads what tar writes in the form %s', async (format) => {
  const script = `cd "$(mktemp -d)" && mkdir -p ${'n'.repeat(90)} && echo text > ${'n'.repeat(90)}/file && ln -s target link && tar --format=${format} -cf - ${'n'.repeat(90)} link; rm -r "$PWD"`;
  const bytes = execFileSync('sh', ['-c', script]);
  expect((await read(bytes)).map(({ path, type, text, target }) => [path, type, text, target])).toEqual([
    [`${'n'.repeat(90)}/`, 'folder', '', ''],
    [`${'n'.repeat(90)}/file`, 'file', 'text\n', ''],
    ['link', 'link', '', 'target'],
  ]);
});

it('refuses what is no tar, ends too early, or is broken', async () => {
  const refused = (bytes: Buffer) => expect(read(bytes)).rejects;
  await refused(Buffer.alloc(600, 1)).toMatchObject({
    code: 'invalid_argument',
    fields: { parameter: 'body' },
  });
  await refused(all.subarray(0, 600)).toMatchObject({ code: 'invalid_argument' });
  await refused(Buffer.from(all).fill(0x78, 0, 3)).toMatchObject({ code: 'invalid_argument' });
  const deep = packed({ ...file, path: 'x'.repeat(5_000), size: 0 });
  await refused(Buffer.concat([deep, tarEnd()])).toThrow('longer than 4096 bytes');
});

it('refuses more bytes than are taken, also of what it leaves out', async () => {
  const device = Buffer.from(packed({ ...file, size: 0 }));
  const many = Buffer.concat(Array.from({ length: 300 }, () => device));
  await expect(read(many)).rejects.toMatchObject({ code: 'too_large' });
});
