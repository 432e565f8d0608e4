/** Images from a real registry: Debian's docker-registry on loopback, and skopeo. */
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { put, type Registry, run, startRegistry } from './registry/registry.ts';

const log = { info() {}, warn() {}, error() {} };

let registry: Registry;
let dataDir: string;
let programs: string[];
let images: LocalImages;

beforeAll(async () => {
  registry = await startRegistry();
  await registry.push('team/app:1', {
    layers: [
      (folder) => {
        put(folder, 'bin/tool', 'tool', 0o4755);
        linkSync(join(folder, 'bin/tool'), join(folder, 'bin/same'));
        put(folder, 'etc/gone');
        put(folder, 'etc/kept');
        put(folder, 'var/old/a');
        put(folder, 'home/far');
        chownSync(join(folder, 'home/far'), 200_000, 200_000);
        put(folder, 'home/near');
        chownSync(join(folder, 'home/near'), 1000, 1000);
        mkdirSync(join(folder, 'lib'));
        run('mknod', [join(folder, 'lib/disk'), 'b', '8', '0']);
        run('ln', ['-s', '/etc/shadow', join(folder, 'lib/link')]);
      },
      (folder) => {
        put(folder, 'etc/.wh.gone', '');
        put(folder, 'var/old/.wh..wh..opq', '');
        put(folder, 'var/old/b');
      },
    ],
    config: [
      ...['--config.env', 'APP=one=two', '--config.entrypoint', '/bin/tool', '--config.cmd', 'serve'],
      ...['--config.workingdir', '/srv', '--config.user', 'app'],
    ],
  });
});

afterAll(() => registry.remove());

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-images-'));
  programs = [];
  images = createImages({
    dataDir,
    cacheDir: join(dataDir, 'cache'),
    helpers: createTestHelpers(programs),
    unpackPath,
    gates: gatesIn(dataDir),
    rules: naming(registry.address),
    log,
  });
  await images.init();
});

afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

describe('an image that is pulled', () => {
  it('[SBX-CREATE-10] has its layers one over the other: removals, hard links, modes and owners', async () => {
    const { digest } = await images.ensure(`${registry.address}/team/app:1`);
    const at = (path: string) => join(images.rootfsPath(digest), path);
    expect(lstatSync(at('bin/tool')).mode & 0o7777).toBe(0o4755);
    expect(statSync(at('bin/same')).ino).toBe(statSync(at('bin/tool')).ino);
    expect(readdirSync(at('etc'))).toEqual(['kept']);
    expect(readdirSync(at('var/old'))).toEqual(['b']);
    expect(lstatSync(at('home/near')).uid).toBe(1000);
  });

  it('brings in no device, and no owner that a sandbox does not have', async () => {
    const { digest } = await images.ensure(`${registry.address}/team/app:1`);
    const rootfs = images.rootfsPath(digest);
    expect(readdirSync(join(rootfs, 'lib'))).toEqual(['link']);
    expect(lstatSync(join(rootfs, 'home/far'))).toMatchObject({ uid: 65_534, gid: 65_534 });
    for (const folder of ['dev', 'proc', 'sys', 'workspace']) {
      expect(lstatSync(join(rootfs, folder)).isDirectory(), folder).toBe(true);
    }
    expect(lstatSync(join(rootfs, 'tmp')).mode & 0o7777).toBe(0o1777);
  });

  it('keeps its configuration', async () => {
    const image = await images.ensure(`${registry.address}/team/app:1`);
    expect(image).toMatchObject({
      reference: `${registry.address}/team/app:1`,
      entrypoint: ['/bin/tool'],
      workingDir: '/srv',
      env: { APP: 'one=two' },
    });
    expect(image.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(image.sizeBytes).toBeGreaterThan(0);
    const record = JSON.parse(readFileSync(join(dataDir, 'images', image.digest, 'image.json'), 'utf8'));
    expect(record).toMatchObject({ cmd: ['serve'], user: 'app' });
    expect(await images.get(image.digest)).toEqual(image);
  });

  it('is there at once the second time, also for a new service and without the registry', async () => {
    const reference = `${registry.address}/team/app:1`;
    const first = await images.ensure(reference);
    await registry.stop();
    try {
      const later = createImages({
        dataDir,
        cacheDir: dataDir,
        helpers: createTestHelpers(programs),
        unpackPath,
        gates: gatesIn(dataDir),
        rules: naming(registry.address),
        log,
      });
      programs.length = 0;
      expect(await images.ensure(reference)).toEqual(first);
      expect(await later.ensure(reference)).toEqual(first);
      expect(programs).toEqual([]);
    } finally {
      await registry.start();
    }
  });

  it('is fetched once for all who want it, under whatever name', async () => {
    const { digest } = await images.ensure(`${registry.address}/team/app:1`);
    await rm(join(dataDir, 'images'), { recursive: true });
    const fresh = createImages({
      dataDir,
      cacheDir: dataDir,
      helpers: createTestHelpers(programs),
      unpackPath,
      gates: gatesIn(dataDir),
      rules: naming(registry.address),
      log,
    });
    await fresh.init();
    programs.length = 0;
    const names = ['team/app:1', 'team/app:1', `team/app@sha256:${digest}`];
    const all = await Promise.all(names.map((name) => fresh.ensure(`${registry.address}/${name}`)));
    expect(new Set(all.map((image) => image.digest))).toEqual(new Set([digest]));
    expect(programs.filter((line) => line.startsWith('sandhaven-unpack'))).toHaveLength(1);
  });

  it('[WIRE-SNAP-07] reports its progress', async () => {
    const messages: string[] = [];
    const onProgress = ({ message }: { message: string }) => messages.push(message);
    await images.ensure(`${registry.address}/team/app:1`, { onProgress });
    expect(messages.join('\n')).toMatch(/Looking up .*\n(.*\n)*Fetching .*\n(.*\n)*Unpacking /);
  });

  it('may be compressed by zstd', async () => {
    await registry.push('team/zstd:1', {
      layers: [(folder) => put(folder, 'etc/zstd')],
      rewrite: compressByZstd,
    });
    const manifest = await fetch(`http://${registry.address}/v2/team/zstd/manifests/1`, {
      headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
    });
    expect(await manifest.text()).toContain('tar+zstd');
    const { digest } = await images.ensure(`${registry.address}/team/zstd:1`);
    expect(readFileSync(join(images.rootfsPath(digest), 'etc/zstd'), 'utf8')).toBe('etc/zstd');
  });
});

describe('an image that cannot be had', () => {
  it('is not_found under an unknown tag or name', async () => {
    for (const name of ['team/app:2', 'team/none:1', `team/app@sha256:${'0'.repeat(64)}`]) {
      await expect(images.ensure(`${registry.address}/${name}`), name).rejects.toMatchObject({
        code: 'not_found',
        fields: { resource: 'image' },
      });
    }
  });

  it('is unavailable, to be tried again, when its registry does not answer', async () => {
    await registry.stop();
    try {
      await expect(images.ensure(`${registry.address}/team/app:1`)).rejects.toMatchObject({
        code: 'unavailable',
        fields: { retryable: true },
      });
    } finally {
      await registry.start();
    }
    await images.ensure(`${registry.address}/team/app:1`);
  });

  it('is refused for its name before any program runs', async () => {
    programs.length = 0;
    for (const name of ['--help', 'oci:/etc', 'a b', '']) {
      await expect(images.ensure(name), name).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    expect(programs).toEqual([]);
  });

  it('is refused when it is made for another processor', async () => {
    await registry.push('team/other:1', {
      layers: [(folder) => put(folder, 'a')],
      config: ['--architecture', 'riscv64'],
    });
    await expect(images.ensure(`${registry.address}/team/other:1`)).rejects.toMatchObject({
      code: 'failed_precondition',
    });
    expect(readdirSync(join(dataDir, 'images/tmp'))).toEqual([]);
  });

  it('has no digest that leads elsewhere', async () => {
    for (const digest of ['../../etc', '', 'tmp', 'A'.repeat(64), `${'a'.repeat(64)}/..`]) {
      expect(await images.get(digest), digest).toBeNull();
      expect(() => images.rootfsPath(digest), digest).toThrow();
    }
  });
});

/** As newer builders do; umoci and Debian's skopeo do not write it themselves. */
function compressByZstd(layout: string): void {
  const script = `
import hashlib, json, subprocess, gzip, os, sys
layout = sys.argv[1]
blob = lambda d: os.path.join(layout, 'blobs', *d.split(':'))
def store(data):
    d = 'sha256:' + hashlib.sha256(data).hexdigest()
    open(blob(d), 'wb').write(data)
    return {'digest': d, 'size': len(data)}
index = json.load(open(layout + '/index.json'))
manifest = json.load(open(blob(index['manifests'][0]['digest'])))
for layer in manifest['layers']:
    plain = gzip.decompress(open(blob(layer['digest']), 'rb').read())
    layer.update(store(subprocess.run(['zstd', '-c'], input=plain, capture_output=True, check=True).stdout))
    layer['mediaType'] = 'application/vnd.oci.image.layer.v1.tar+zstd'
index['manifests'][0].update(store(json.dumps(manifest).encode()))
json.dump(index, open(layout + '/index.json', 'w'))
`;
  run('python3', ['-c', script, layout]);
  expect(existsSync(join(layout, 'index.json'))).toBe(true);
}
