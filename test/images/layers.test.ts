/** What layers mean, one over the other, entry by entry. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { digestOf, type RawRegistry, startRawRegistry } from './registry/raw-registry.ts';
import { run } from './registry/registry.ts';
import { type TarEntry, tar, tarGz } from './tar.ts';

const log = { info() {}, warn() {}, error() {} };

let registry: RawRegistry;
let dataDir: string;
let images: LocalImages;

beforeAll(async () => {
  registry = await startRawRegistry();
});

afterAll(() => registry.close());

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-layers-'));
  images = createImages({
    dataDir,
    cacheDir: dataDir,
    helpers: createTestHelpers(),
    unpackPath,
    gates: gatesIn(dataDir),
    rules: naming(registry.address),
    log,
  });
  await images.init();
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function root(layers: Buffer[], diffIds?: string[]): Promise<string> {
  registry.put('layers', { layers, ...(diffIds ? { diffIds } : {}) });
  return images.rootfsPath((await images.ensure(`${registry.address}/layers:1`)).digest);
}

const unpacked = (...each: TarEntry[][]): Promise<string> => root(each.map(tarGz));
const file = (name: string, content = name): TarEntry => ({ name, content });
const folder = (name: string, mode = 0o755): TarEntry => ({ name, type: '5', mode });

describe('a layer over another', () => {
  it('replaces a file by a folder and back, and links by files', async () => {
    const at = await unpacked(
      [file('a'), folder('b'), file('b/deep/er/x'), { name: 'l', type: '2', link: 'b' }],
      [folder('a'), file('a/x'), file('b'), folder('l'), file('l/y')],
    );
    expect(readFileSync(join(at, 'a/x'), 'utf8')).toBe('a/x');
    expect(readFileSync(join(at, 'b'), 'utf8')).toBe('b');
    expect(lstatSync(join(at, 'l')).isDirectory()).toBe(true);
  });

  it('keeps what is in a folder that it names again, and sets its mode', async () => {
    const at = await unpacked([folder('d', 0o700), file('d/x')], [folder('d', 0o751), file('d/y')]);
    expect(readdirSync(join(at, 'd')).toSorted()).toEqual(['x', 'y']);
    expect(statSync(join(at, 'd')).mode & 0o7777).toBe(0o751);
    expect(statSync(join(at, 'd')).mtimeMs).toBe(1_000_000_000_000);
  });

  it('goes through a link to a folder, as everything in a sandbox does', async () => {
    const at = await unpacked(
      [
        folder('usr/bin'),
        { name: 'bin', type: '2', link: 'usr/bin' },
        { name: 'run', type: '2', link: '/var/run' },
      ],
      [file('bin/tool'), file('run/new')],
    );
    expect(readlinkSync(join(at, 'bin'))).toBe('usr/bin');
    expect(readFileSync(join(at, 'usr/bin/tool'), 'utf8')).toBe('bin/tool');
    expect(readFileSync(join(at, 'var/run/new'), 'utf8')).toBe('run/new');
  });

  it('links to what a lower layer brought', async () => {
    const at = await unpacked([file('a')], [{ name: 'b', type: '1', link: './a' }]);
    expect(statSync(join(at, 'b')).ino).toBe(statSync(join(at, 'a')).ino);
  });

  it('removes what lower layers have, and not what it brings itself, in whatever order', async () => {
    const lower = [file('a/x'), file('a/sub/x'), file('b/x'), file('c/x'), file('d'), file('e/x')];
    const at = await unpacked(lower, [
      file('a/y'),
      file('a/sub/y'),
      { name: 'a/.wh..wh..opq' },
      { name: 'b/.wh..wh..opq' },
      file('b/y'),
      { name: '.wh.c' },
      file('d', 'new'),
      { name: '.wh.d' },
      file('e/y'),
      { name: '.wh.e' },
      { name: '.wh..wh.plnk' },
      { name: 'none/.wh.none' },
    ]);
    expect(readdirSync(join(at, 'a')).toSorted()).toEqual(['sub', 'y']);
    expect(readdirSync(join(at, 'a/sub'))).toEqual(['y']);
    expect(readdirSync(join(at, 'b'))).toEqual(['y']);
    expect(existsSync(join(at, 'c'))).toBe(false);
    expect(readFileSync(join(at, 'd'), 'utf8')).toBe('new');
    expect(readdirSync(join(at, 'e'))).toEqual(['y']);
    expect(readdirSync(at).filter((name) => name.startsWith('.wh.') || name === 'none')).toEqual([]);
  });
});

describe('an entry', () => {
  it('keeps mode bits, owner, time and the attributes that matter', async () => {
    const capability = '\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0';
    const pax = {
      'SCHILY.xattr.user.note': 'kept',
      'SCHILY.xattr.security.capability': capability,
      'SCHILY.xattr.trusted.overlay.opaque': 'y',
      mtime: '1234567890.5',
    };
    const at = await unpacked([
      { name: 'a', mode: 0o6755, uid: 1000, content: 'x', pax },
      { name: 'wide', uid: 65_536, content: 'x' },
      { name: 'sticky/', type: '5', mode: 0o1777 },
    ]);
    const seen = statSync(join(at, 'a'));
    expect(seen).toMatchObject({ uid: 1000, gid: 0, mtimeMs: 1_234_567_890_500 });
    expect(seen.mode & 0o7777).toBe(0o6755);
    expect(statSync(join(at, 'wide'))).toMatchObject({ uid: 65_534, gid: 65_534 });
    expect(statSync(join(at, 'sticky')).mode & 0o7777).toBe(0o1777);
    const list =
      'import os, sys; p = sys.argv[1]; print({n: os.getxattr(p, n).hex() for n in sorted(os.listxattr(p))})';
    const attributes = execFileSync('python3', ['-c', list, join(at, 'a')], { encoding: 'utf8' });
    expect(attributes).toContain('user.note');
    // Not effective: no sandbox has CAP_NET_RAW, and the kernel would not start the program.
    expect(attributes).toContain(`'security.capability': '0000000200200000${'0'.repeat(24)}'`);
    expect(attributes).not.toContain('trusted');
  });

  it('may be written by GNU tar, with long names and holes, in each of its formats', async () => {
    const source = join(dataDir, 'source');
    const long = `${'folder-'.repeat(20)}/${'name-'.repeat(40)}`;
    const script = `
      mkdir -p "$1/${long}" && cd "$1" && echo long > "${long}/file" && ln -s "${long}/file" link
      truncate -s 20M holes
      for at in 0 3 7 12 15 19; do printf "part $at" | dd of=holes bs=1 seek=$((at*1000000)) conv=notrunc 2>/dev/null; done`;
    run('bash', ['-c', script, 'bash', source]);
    for (const format of ['gnu', 'posix', 'posix --sparse-version=0.0', 'posix --sparse-version=0.1']) {
      const options = `--format=${format}`.split(' ');
      const archive = execFileSync('tar', ['-C', source, '--sparse', ...options, '-cf', '-', '.'], {
        maxBuffer: 2 ** 26,
      });
      const at = await root([archive]);
      expect(readFileSync(join(at, long, 'file'), 'utf8'), format).toBe('long\n');
      expect(readFileSync(join(at, 'holes')).equals(readFileSync(join(source, 'holes'))), format).toBe(true);
      expect(statSync(join(at, 'holes')).blocks * 512, format).toBeLessThan(2 ** 20);
      expect(readlinkSync(join(at, 'link')), format).toBe(`${long}/file`);
      await rm(join(dataDir, 'images/references'), { recursive: true });
      await images.init();
    }
  });

  it('may be in a layer that is not compressed, or in one of several frames', async () => {
    const plain = tar([file('a')]);
    const frames = (program: string) =>
      Buffer.concat(
        [plain.subarray(0, 700), plain.subarray(700)].map((part) =>
          execFileSync(program, ['-c'], { input: part }),
        ),
      );
    for (const layer of [plain, frames('gzip'), frames('zstd')]) {
      const at = await root([layer], [digestOf(plain)]);
      expect(readFileSync(join(at, 'a'), 'utf8')).toBe('a');
      await rm(join(dataDir, 'images/references'), { recursive: true });
      await images.init();
    }
  });
});
