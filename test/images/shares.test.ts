/** Pulls of one owner, whose registry never answers, hold up nobody else's. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { type RawRegistry, startRawRegistry } from './registry/raw-registry.ts';
import { tarGz } from './tar.ts';

const log = { info() {}, warn() {}, error() {} };

let registry: RawRegistry;
let dataDir: string;
let images: LocalImages;
let pulls: Promise<string>[];
let left: AbortController;
/** Layers that were asked for and never come. */
let awaited: Set<string>;

beforeEach(async () => {
  registry = await startRawRegistry();
  const layersOf = (name: string) => registry.put(name, { layers: [tarGz([{ name, content: name }])] });
  layersOf('wanted');
  const never = ['never-1', 'never-2'].flatMap(layersOf);
  awaited = new Set();
  registry.trouble = ({ digest }) => {
    if (digest === null || !never.includes(digest)) return null;
    awaited.add(digest);
    return 'hang';
  };
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-images-'));
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
  pulls = [];
  left = new AbortController();
});

afterEach(async () => {
  left.abort();
  await Promise.allSettled(pulls);
  await registry.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** What the image is called once it is there. */
function pull(name: string, owner: string): Promise<string> {
  const pulled = images
    .ensure(`${registry.address}/${name}:1`, { owner, signal: left.signal })
    .then(({ reference }) => reference);
  pulled.catch(() => {});
  pulls.push(pulled);
  return pulled;
}

it('two go on at once; a third waits, and whoever else wants the same image does not wait with it', async () => {
  void pull('never-1', 'mallory');
  void pull('never-2', 'mallory');
  await expect.poll(() => awaited.size, { timeout: 10_000 }).toBe(2);
  const third = pull('wanted', 'mallory');
  expect(await Promise.race([third, sleep(500, 'waits')])).toBe('waits');
  expect(await pull('wanted', 'alice')).toBe(`${registry.address}/wanted:1`);
});
