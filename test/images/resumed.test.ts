/** Pulls that go on where they were broken off, and images that share layers. */
import { randomBytes } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Blobs } from '../../src/runtime/images/blobs.ts';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { type RawRegistry, startRawRegistry, type Trouble } from './registry/raw-registry.ts';
import { tarGz } from './tar.ts';

const log = { info() {}, warn() {}, error() {} };

let registry: RawRegistry;
let dataDir: string;
let images: LocalImages;

beforeEach(async () => {
  registry = await startRawRegistry();
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-resumed-'));
  images = await open();
});

afterEach(async () => {
  await registry.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** As a service that starts anew. */
async function open(): Promise<LocalImages> {
  const opened = createImages({
    dataDir,
    cacheDir: dataDir,
    helpers: createTestHelpers(),
    unpackPath,
    gates: gatesIn(dataDir),
    rules: naming(registry.address),
    log,
  });
  await opened.init();
  return opened;
}

const layer = (name: string) => tarGz([{ name, content: randomBytes(300_000) }]);
/** Too large to be taken for a description. */
const largeLayer = (name: string) => tarGz([{ name, content: randomBytes(2_000_000) }]);

describe('a pull from a registry that dies half-way', () => {
  it('keeps the layers it has, and the next one fetches only the rest', async () => {
    const [first = '', second = '', third = ''] = registry.put('app', {
      layers: [layer('a'), layer('b'), layer('c')],
    });
    registry.trouble = ({ digest }) => {
      if (registry.sent.has(first) && registry.sent.has(second)) return { status: 404 };
      return digest === third ? 'half' : null;
    };
    await expect(images.ensure(`${registry.address}/app:1`)).rejects.toMatchObject({
      code: expect.any(String),
    });
    expect([registry.sent.get(first), registry.sent.get(second)]).toEqual([1, 1]);
    expect(registry.sent.has(third)).toBe(false);

    registry.trouble = () => null;
    const again = await open();
    const { digest } = await again.ensure(`${registry.address}/app:1`);
    expect(readdirSync(again.rootfsPath(digest))).toEqual(expect.arrayContaining(['a', 'b', 'c']));
    expect([first, second, third].map((one) => registry.sent.get(one))).toEqual([1, 1, 1]);
    expect(readdirSync(join(dataDir, 'images/tmp'))).toEqual([]);
  });

  it('goes on by itself after errors that pass: 503, broken connections', async () => {
    const [only = ''] = registry.put('app', { layers: [layer('a')] });
    const troubles: Record<string, (Trouble | null)[]> = {
      ping: [{ status: 503 }],
      layer: [{ status: 502 }, 'half'],
    };
    registry.trouble = ({ path, digest }) => {
      const kind = digest === only ? 'layer' : path === '/v2/' ? 'ping' : 'other';
      return troubles[kind]?.shift() ?? null;
    };
    await images.ensure(`${registry.address}/app:1`);
    expect(Object.values(troubles)).toEqual([[], []]);
    expect(registry.sent.get(only)).toBe(1);
  });

  it('gives up in the end, with an error that may be tried again', async () => {
    registry.put('app', { layers: [layer('a')] });
    let asked = 0;
    registry.trouble = ({ digest }) => (digest && ++asked ? { status: 500 } : null);
    await expect(images.ensure(`${registry.address}/app:1`)).rejects.toMatchObject({
      code: 'unavailable',
      fields: { retryable: true },
    });
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(50);
  });
});

describe('images that share layers', () => {
  it('fetch each layer once', async () => {
    const shared = layer('shared');
    const [common = '', own = ''] = registry.put('one', { layers: [shared, layer('one')] });
    const [, other = ''] = registry.put('two', { layers: [shared, layer('two')] });
    await images.ensure(`${registry.address}/one:1`);
    await (await open()).ensure(`${registry.address}/two:1`);
    expect([common, own, other].map((digest) => registry.sent.get(digest))).toEqual([1, 1, 1]);
  });

  it('report how many bytes have come', async () => {
    const layers = [layer('a')];
    registry.put('app', { layers });
    const seen: { done?: number; total?: number }[] = [];
    await images.ensure(`${registry.address}/app:1`, { onProgress: (progress) => seen.push(progress) });
    expect(seen.find(({ total }) => total !== undefined)).toMatchObject({ total: layers[0]?.length });
  });
});

describe('layers that are kept', () => {
  it('are pruned by age and by size, the longest unused first, and never while they are needed', async () => {
    const blobs = new Blobs(dataDir);
    const image = { layers: ['a', 'b', 'c', 'd'].map(largeLayer) };
    const digests = registry.put('app', image);
    await images.ensure(`${registry.address}/app:1`);
    const [a = '', b = '', c = '', d = ''] = digests;
    const at = (digest: string, hoursAgo: number) =>
      utimesSync(blobs.path(digest), new Date(), new Date(Date.now() - hoursAgo * 3_600_000));
    for (const [index, digest] of [a, b, c, d].entries()) at(digest, 10 - index);
    const here = async () => (await blobs.sizes(digests)).map((size) => size > 0);
    const release = blobs.hold([a]);
    await blobs.prune({ maxBytes: 2 ** 40, usedBefore: Date.now() - 8.5 * 3_600_000 });
    expect(await here()).toEqual([true, false, true, true]);
    release();
    await blobs.prune({ maxBytes: (image.layers[3]?.length ?? 0) + 50_000, usedBefore: 0 });
    expect(await here()).toEqual([false, false, false, true]);
    await blobs.prune({ maxBytes: 0, usedBefore: 0 });
    expect(await here()).toEqual([false, false, false, false]);
  });
});

describe('a service behind a proxy', () => {
  it('fetches through it', async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (chunk) => {
        asked.push(chunk.toString().split('\r\n')[0] ?? '');
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const before = process.env['HTTPS_PROXY'];
    process.env['HTTPS_PROXY'] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      await expect(images.ensure('registry.invalid:5000/app:1')).rejects.toThrow();
      expect(asked[0]).toBe('CONNECT registry.invalid:5000 HTTP/1.1');
    } finally {
      if (before === undefined) delete process.env['HTTPS_PROXY'];
      else process.env['HTTPS_PROXY'] = before;
      await new Promise((resolve) => proxy.close(resolve));
    }
  });
});
