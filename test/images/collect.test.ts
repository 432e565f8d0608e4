/** Images that nothing uses go after a while; those in use, held or of the standard base image never do. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { inPart } from '../deep/parts.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { type RawRegistry, startRawRegistry } from './registry/raw-registry.ts';
import { put } from './registry/registry.ts';
import { tarGz } from './tar.ts';

const ROUNDS = inPart('kills') ? 10 : 3;
const log = { info() {}, warn() {}, error() {} };

let registry: RawRegistry;
let dataDir: string;
let images: LocalImages;
let used: Set<string>;

beforeAll(async () => {
  registry = await startRawRegistry();
  for (const name of ['one', 'two', 'three'])
    registry.put(name, { layers: [tarGz([{ name, content: name }])] });
});

afterAll(() => registry.close());

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-collect-'));
  images = open();
  used = new Set();
  await images.init();
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

function open(): LocalImages {
  const cacheDir = join(dataDir, 'cache');
  return createImages({
    dataDir,
    cacheDir,
    helpers: createTestHelpers(),
    unpackPath,
    gates: gatesIn(dataDir),
    rules: naming(registry.address),
    log,
  });
}

const pulled = async (name: string) => (await images.ensure(`${registry.address}/${name}:1`)).digest;
const inUse = async () => used;
/** As if the time had come for all. */
const collect = (thoroughly = false) =>
  images.collect({ inUse, unusedSince: Date.now() + 1_000, thoroughly });
const here = (digest: string) => existsSync(images.rootfsPath(digest));

describe('an image', () => {
  it('is removed with its names when nothing uses it, and is pulled again on demand', async () => {
    const [one, two] = [await pulled('one'), await pulled('two')];
    used.add(two);
    expect(await collect()).toEqual([one]);
    expect([here(one), here(two)]).toEqual([false, true]);
    expect(await images.get(one)).toBeNull();
    expect(readdirSync(join(dataDir, 'images/references'))).toHaveLength(1);
    expect(readdirSync(join(dataDir, 'images/tmp'))).toEqual([]);
    expect(await pulled('one')).toBe(one);
    expect(here(one)).toBe(true);
  });

  it('stays for a while after it was last used', async () => {
    const one = await pulled('one');
    expect(await images.collect({ inUse, unusedSince: Date.now() - 60_000 })).toEqual([]);
    expect(here(one)).toBe(true);
  });

  it('is not removed while something is made from it, nor by an answer from before that', async () => {
    const name = { reference: `${registry.address}/one:1` };
    const digest = await images.use(name, async (image) => {
      expect(await collect()).toEqual([]);
      return image.digest;
    });
    // The row is committed while the collector has the old answer in hand.
    const asked = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    const collecting = images.collect({
      async inUse() {
        asked.resolve();
        await committed.promise;
        return new Set();
      },
      unusedSince: Date.now() + 1_000,
    });
    await asked.promise;
    await images.use({ digest }, async () => {});
    committed.resolve();
    expect(await collecting).toEqual([]);
    expect(here(digest)).toBe(true);
    expect(await collect()).toEqual([digest]);
  });

  it('is unavailable when it is wanted by its digest and is gone', async () => {
    const digest = await pulled('one');
    await collect();
    await expect(images.use({ digest }, async () => {})).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is always whole for whoever has it, however often images are collected meanwhile', async () => {
    let over = false;
    const collector = (async () => {
      while (!over) await collect(true);
    })();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await Promise.all(
          ['one', 'two', 'three'].map((name) =>
            images.use({ reference: `${registry.address}/${name}:1` }, async ({ digest }) => {
              await new Promise((resolve) => setTimeout(resolve, 5));
              expect(here(digest), `${name} in round ${round}`).toBe(true);
            }),
          ),
        );
      }
    } finally {
      over = true;
      await collector;
    }
  }, 60_000);

  it('is gone after the next start when a killed service was removing it', async () => {
    const grave = join(dataDir, 'images/tmp/removed-x');
    mkdirSync(join(grave, 'rootfs'), { recursive: true });
    await open().init();
    expect(existsSync(grave)).toBe(false);
  });

  it('of the base is never removed, with its cache or without', async () => {
    const digest = 'b'.repeat(64);
    const config = { env: {}, entrypoint: [], cmd: [], workingDir: '/', user: '' };
    put(join(dataDir, 'cache/base/key'), 'rootfs/name', 'base');
    writeFileSync(
      join(dataDir, 'cache/base/key/image.json'),
      JSON.stringify({ digest, reference: 'base', sizeBytes: 3, ...config }),
    );
    symlinkSync('key', join(dataDir, 'cache/base/current'));
    await images.ensure('base');
    expect(await collect(true)).toEqual([]);
    await rm(join(dataDir, 'cache'), { recursive: true });
    expect(await collect(true)).toEqual([]);
    expect(here(digest)).toBe(true);
  });
});
