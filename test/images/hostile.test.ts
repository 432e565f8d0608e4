/** Images made to do harm: none writes outside of its folder, none fills the host, and nothing of them stays. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SandhavenError } from '../../src/model/errors.ts';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { digestOf, type RawImage, type RawRegistry, startRawRegistry } from './registry/raw-registry.ts';
import { header, type TarEntry, tar, tarGz } from './tar.ts';

const log = { info() {}, warn() {}, error() {} };
const MiB = 2 ** 20;
const bounds = { bytes: 64 * MiB, entries: 5_000, fileBytes: 32 * MiB };

let registry: RawRegistry;
let scratch: string;
let dataDir: string;
let images: LocalImages;
/** A folder of the host beside the data directory, and a name that nothing else has. */
let outside: string;
const evil = `sandhaven-evil-${randomBytes(6).toString('hex')}`;

beforeAll(async () => {
  registry = await startRawRegistry();
});

afterAll(() => registry.close());

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sandhaven-hostile-'));
  dataDir = join(scratch, 'data');
  outside = join(scratch, 'outside');
  mkdirSync(dataDir);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'kept');
  images = createImages({
    dataDir,
    cacheDir: join(scratch, 'cache'),
    helpers: createTestHelpers(),
    unpackPath,
    gates: gatesIn(dataDir),
    rules: naming(registry.address),
    bounds,
    log,
  });
  await images.init();
});

afterEach(async () => {
  nothingOutside();
  await rm(scratch, { recursive: true, force: true });
});

function nothingOutside(): void {
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('kept');
  expect(readdirSync(scratch).toSorted()).toEqual(['data', 'outside']);
  expect(readdirSync(join(dataDir, 'images/tmp'))).toEqual([]);
  for (const folder of ['/', '/etc', '/tmp', '/dev', dataDir, join(dataDir, 'images')]) {
    expect(existsSync(join(folder, evil)), folder).toBe(false);
  }
}

/** Pulls it; the unpacked root. */
async function root(image: RawImage): Promise<string> {
  registry.put('hostile', image);
  const { digest } = await images.ensure(`${registry.address}/hostile:1`);
  return images.rootfsPath(digest);
}

async function refusal(image: RawImage): Promise<SandhavenError> {
  const error = await root(image).then(
    () => new Error('was taken'),
    (thrown: unknown) => thrown,
  );
  expect(readdirSync(join(dataDir, 'images')).toSorted()).toEqual(['blobs', 'references', 'tmp']);
  const { code, message, fields } = error as SandhavenError;
  expect(message).not.toContain(scratch);
  return { code, message, ...fields } as unknown as SandhavenError;
}

const layers = (...each: TarEntry[][]): RawImage => ({ layers: each.map(tarGz) });
const up = '../'.repeat(12);

describe('names that lead out of the image', () => {
  it.each<[string, TarEntry[]]>([
    ['a path with ..', [{ name: `../${evil}`, content: 'x' }]],
    ['a long way up', [{ name: `${up}tmp/${evil}`, content: 'x' }]],
    ['.. in the middle', [{ name: `a/../../${evil}`, content: 'x' }]],
    ['.. in an extended header', [{ name: 'a', pax: { path: `${up}etc/${evil}` }, content: 'x' }]],
    ['a folder ..', [{ name: `../${evil}/`, type: '5' }]],
    ['a hard link to outside', [{ name: 'a', type: '1', link: `${up}etc/passwd` }]],
    ['a removal of ..', [{ name: 'a/.wh...' }]],
    ['a removal of the folder itself', [{ name: 'a/.wh..' }]],
    ['a removal of nothing', [{ name: '.wh.' }]],
    ['a removal outside', [{ name: `../.wh.outside` }]],
    ['an emptying outside', [{ name: `${up}/.wh..wh..opq` }]],
  ])('are refused: %s', async (_, entries) => {
    expect(await refusal(layers(entries))).toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('leads out of the image'),
    });
  });

  it('with a NUL or too long are refused', async () => {
    for (const name of ['a\0b', `${'d/'.repeat(2_100)}x`, `${'d/'.repeat(300)}x`, 'x'.repeat(256)]) {
      const error = await refusal(layers([{ name: 'a', pax: { path: name }, content: 'x' }]));
      expect(error.code, name.slice(0, 9)).toBe('failed_precondition');
    }
  });

  it('stay in the image when they are absolute', async () => {
    const at = await root(layers([{ name: `/etc/${evil}`, content: 'inside' }]));
    expect(readFileSync(join(at, 'etc', evil), 'utf8')).toBe('inside');
  });
});

describe('links', () => {
  it('to the outside lead inside: nothing is written or removed through them', async () => {
    const at = await root(
      layers(
        [
          { name: 'absolute', type: '2', link: outside },
          { name: 'upwards', type: '2', link: `${up}${outside.slice(1)}` },
          { name: 'etc', type: '2', link: '/etc' },
        ],
        [
          { name: `absolute/${evil}`, content: 'a' },
          { name: `upwards/${evil}`, content: 'b' },
          { name: 'absolute/.wh.secret' },
          { name: 'upwards/.wh..wh..opq' },
        ],
      ),
    ).catch((error: unknown) => error);
    expect(at).toBeTypeOf('string');
    expect(readFileSync(join(String(at), outside, evil), 'utf8')).toBe('b');
  });

  it('are replaced by what comes in their place, not followed', async () => {
    const at = await root(
      layers(
        [
          { name: 'target', content: 'kept' },
          { name: 'link', type: '2', link: 'target' },
          { name: 'host', type: '2', link: join(outside, 'secret') },
        ],
        [
          { name: 'link', content: 'new' },
          { name: 'host', content: 'new' },
        ],
      ),
    );
    expect(readFileSync(join(at, 'target'), 'utf8')).toBe('kept');
    expect(lstatSync(join(at, 'link')).isFile()).toBe(true);
    expect(readFileSync(join(at, 'host'), 'utf8')).toBe('new');
  });

  it('are never followed by a hard link', async () => {
    const at = await root(
      layers([
        { name: 'passwd', type: '2', link: '/etc/passwd' },
        { name: 'hard', type: '1', link: 'passwd' },
      ]),
    );
    expect(lstatSync(join(at, 'hard')).isSymbolicLink()).toBe(true);
  });

  it('in circles, or to what is not there, are refused where they are walked through', async () => {
    const circle: TarEntry[] = [
      { name: 'a', type: '2', link: 'b' },
      { name: 'b', type: '2', link: 'a' },
      { name: 'a/file', content: 'x' },
    ];
    expect((await refusal(layers(circle))).code).toBe('failed_precondition');
    const hard = await refusal(layers([{ name: 'a', type: '1', link: '/etc/passwd' }]));
    expect(hard).toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('not there'),
    });
  });
});

describe('devices', () => {
  it('are left out, with what leads to them, and pipes are made', async () => {
    const at = await root(
      layers([
        { name: 'disk', type: '4' },
        { name: 'tty', type: '3' },
        { name: 'same', type: '1', link: 'disk' },
        { name: 'pipe', type: '6' },
      ]),
    );
    expect(readdirSync(at).filter((name) => ['disk', 'tty', 'same'].includes(name))).toEqual([]);
    expect(lstatSync(join(at, 'pipe')).isFIFO()).toBe(true);
  });
});

describe('bombs', () => {
  it('of a gigabyte in a megabyte end at the limit', async () => {
    const part = gzipSync(Buffer.alloc(64 * MiB));
    const start = gzipSync(header({ name: 'zeros', size: 2 ** 30 }));
    const bomb = Buffer.concat([start, ...Array<Buffer>(16).fill(part)]);
    expect(bomb.length).toBeLessThan(2 * MiB);
    const inOneFile = await refusal({ layers: [bomb], diffIds: [digestOf(bomb)] });
    expect(inOneFile).toMatchObject({ code: 'too_large' });
    // What follows the end of the archive is counted too.
    const after = Buffer.concat([tarGz([]), ...Array<Buffer>(16).fill(part)]);
    expect(await refusal({ layers: [after], diffIds: [digestOf(after)] })).toMatchObject({
      code: 'too_large',
      message: expect.stringContaining(`over ${bounds.bytes} bytes`),
    });
  });

  it('of a million entries end at the limit', async () => {
    const one = header({ name: 'same' });
    const bomb = gzipSync(Buffer.alloc(100_000 * one.length, one), { level: 1 });
    expect(await refusal({ layers: [bomb], diffIds: [digestOf(bomb)] })).toMatchObject({
      code: 'too_large',
      message: expect.stringContaining(`over ${bounds.entries} files`),
    });
  });

  it('of one huge file, with holes or without, are refused by its size', async () => {
    const sparse = {
      name: 'a',
      pax: { 'GNU.sparse.realsize': String(2 ** 50), 'GNU.sparse.map': '0,1' },
      content: 'x',
    };
    for (const entry of [{ name: 'a', size: 2 ** 33 - 1 }, sparse]) {
      expect((await refusal(layers([entry]))).code).toBe('too_large');
    }
  });

  it('of long names, extended headers and attributes are refused', async () => {
    const value = 'x'.repeat(100_000);
    for (const entry of [
      { name: 'a', pax: { 'SCHILY.xattr.user.huge': value }, content: 'x' },
      { name: 'a', type: 'x', size: 2 ** 32, content: 'x' },
      { name: 'a', type: 'L', size: 2 ** 32, content: 'x' },
    ]) {
      const { code } = await refusal(layers([entry]));
      expect(['too_large', 'failed_precondition']).toContain(code);
    }
  });
});

describe('damaged layers', () => {
  const good = tarGz([{ name: 'a', content: 'x'.repeat(10_000) }]);

  it('are refused by their digest and by what comes out of them', async () => {
    expect(await refusal({ layers: [good], diffIds: [digestOf(good)] })).toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('diff_id'),
    });
    expect(readdirSync(join(dataDir, 'images/blobs/sha256'))).not.toContain(digestOf(good).slice(7));
    expect(await refusal({ layers: [good], diffIds: [] })).toMatchObject({ code: 'failed_precondition' });
    const fresh = tarGz([{ name: 'b', content: randomBytes(10_000) }]);
    const other = Buffer.from(fresh);
    other[fresh.length - 1] = (fresh.at(-1) ?? 0) ^ 1;
    expect(await refusal({ layers: [fresh], instead: { 0: other } })).toMatchObject({ code: 'unavailable' });
  });

  it.each<[string, Buffer]>([
    ['cut off while compressed', good.subarray(0, good.length >> 1)],
    ['cut off', tar([{ name: 'a', content: 'x'.repeat(10_000) }]).subarray(0, 3_000)],
    ['no archive', randomBytes(10_000)],
    ['no archive, compressed', gzipSync(randomBytes(10_000))],
    ['followed by rubbish', Buffer.concat([good, randomBytes(100)])],
    ['a header without its data', tar([{ name: 'a', size: 100_000 }], { ended: false })],
    ['of an unknown kind', tar([{ name: 'a', type: 'Z' }])],
    ['zstd rubbish', Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), randomBytes(5_000)])],
  ])('are refused: %s', async (_, layer) => {
    expect((await refusal({ layers: [layer] })).code).toBe('failed_precondition');
  });

  it('are fetched anew when the disk has damaged them', async () => {
    const [digest = ''] = registry.put('hostile', { layers: [good] });
    const file = join(dataDir, 'images/blobs/sha256', digest.slice(7));
    writeFileSync(file, Buffer.alloc(good.length));
    await images.ensure(`${registry.address}/hostile:1`);
    expect(digestOf(readFileSync(file))).toBe(digest);
  });
});
