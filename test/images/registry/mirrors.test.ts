/** Mirrors: tried first, passed over whatever is wrong with them, and believed only where a digest cannot tell. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseRegistryMirrors } from '../../../src/model/registries.ts';
import { createImages, type LocalImages } from '../../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from '../helpers.ts';
import { tarGz } from '../tar.ts';
import { type Kept, keptIn } from './accounts.ts';
import { startAskingServer } from './asking-server.ts';
import { type RawRegistry, startRawRegistry } from './raw-registry.ts';
import { freePort } from './registry.ts';

let origin: RawRegistry;
let mirror: RawRegistry;
let scratch: string;
let kept: Kept;
const warn = vi.fn();

beforeEach(async () => {
  [origin, mirror] = await Promise.all([startRawRegistry(), startRawRegistry()]);
  scratch = await mkdtemp(join(tmpdir(), 'sandhaven-mirrors-'));
  kept = keptIn(scratch);
  warn.mockReset();
});

afterEach(async () => {
  expect(readdirSync(join(scratch, 'images/tmp'))).toEqual([]);
  await Promise.all([origin.close(), mirror.close()]);
  await rm(scratch, { recursive: true, force: true });
});

/** A service whose registry `origin` has these mirrors. */
async function serviceWith(...mirrors: string[]): Promise<LocalImages> {
  const text = mirrors.map((one) => `${origin.address}=${one}`).join(',');
  const images = createImages({
    dataDir: scratch,
    cacheDir: scratch,
    helpers: createTestHelpers(),
    unpackPath,
    gates: gatesIn(scratch),
    registries: kept,
    rules: { ...naming(origin.address), mirrors: parseRegistryMirrors('--registry-mirror', text) },
    log: { info() {}, warn, error() {} },
  });
  await images.init();
  return images;
}

const image = (name: string) => ({ layers: [tarGz([{ name, content: name.repeat(9_000) }])] });
const contentOf = (images: LocalImages, digest: string) => readdirSync(images.rootfsPath(digest));

describe('a mirror', () => {
  it('is asked alone when it has the image, which keeps its own name', async () => {
    mirror.put('team/app', image('mirrored'));
    const images = await serviceWith(mirror.address);
    const reference = `${origin.address}/team/app:1`;
    const { digest, reference: told } = await images.ensure(reference);
    expect(contentOf(images, digest)).toContain('mirrored');
    expect(told).toBe(reference);
    expect([mirror.manifests > 0, origin.manifests, origin.sent.size]).toEqual([true, 0, 0]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('may keep its copies in a folder', async () => {
    mirror.put('proxy/hub/team/app', image('mirrored'));
    const images = await serviceWith(`${mirror.address}/proxy/hub`);
    const { digest } = await images.ensure(`${origin.address}/team/app:1`);
    expect(contentOf(images, digest)).toContain('mirrored');
  });

  it('is no mirror of other registries', async () => {
    const other = await startRawRegistry();
    try {
      other.put('team/app', image('other'));
      mirror.put('team/app', image('mirrored'));
      const images = await serviceWith(mirror.address);
      kept.put({ registry: other.address, username: 'own', password: 'one' });
      const { digest } = await images.ensure(`${other.address}/team/app:1`);
      expect(contentOf(images, digest)).toContain('other');
      expect(mirror.manifests).toBe(0);
    } finally {
      await other.close();
    }
  });

  it('is passed over, in order, when it lacks the image or is down', async () => {
    origin.put('team/app', image('own'));
    const down = `127.0.0.1:${await freePort()}`;
    const images = await serviceWith(down, mirror.address);
    const { digest } = await images.ensure(`${origin.address}/team/app:1`);
    expect(contentOf(images, digest)).toContain('own');
    const passed = warn.mock.calls.map(([, fields]) => fields.mirror);
    expect(passed.slice(0, 2)).toEqual([down, mirror.address]);
  });

  it('leaves the answer of the registry when neither has the image', async () => {
    const images = await serviceWith(mirror.address);
    await expect(images.ensure(`${origin.address}/team/app:1`)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(origin.address),
    });
  });

  it('is passed over when it sends another manifest for a digest', async () => {
    origin.put('team/app', image('own'));
    const digest = await digestIn(origin, 'team/app');
    mirror.put('team/app', image('evil'));
    const images = await serviceWith(mirror.address);
    const pulled = await images.ensure(`${origin.address}/team/app@${digest}`);
    expect(`sha256:${pulled.digest}`).toBe(digest);
    expect(contentOf(images, pulled.digest)).toContain('own');
    expect(mirror.manifests).toBeGreaterThan(0);
    expect(warn).toHaveBeenCalled();
  });

  it('is passed over when it sends another layer for a digest, and nothing of that stays', async () => {
    const own = image('own');
    const [layer = ''] = origin.put('team/app', own);
    mirror.put('team/app', { ...own, instead: { 0: image('evil').layers[0] ?? Buffer.alloc(0) } });
    const images = await serviceWith(mirror.address);
    const { digest } = await images.ensure(`${origin.address}/team/app:1`);
    expect(contentOf(images, digest)).toContain('own');
    expect(contentOf(images, digest)).not.toContain('evil');
    expect(origin.sent.get(layer)).toBe(1);
    const stored = readFileSync(join(scratch, 'images/blobs/sha256', layer.slice(7)));
    expect(stored.equals(own.layers[0] ?? Buffer.alloc(0))).toBe(true);
  });

  it('leaves the rest to the registry when it breaks off between two layers', async () => {
    const layers = [...image('a').layers, ...image('b').layers];
    origin.put('team/app', { layers });
    const [, second = ''] = mirror.put('team/app', { layers });
    mirror.trouble = ({ digest }) => (digest === second ? { status: 404 } : null);
    const images = await serviceWith(mirror.address);
    const { digest } = await images.ensure(`${origin.address}/team/app:1`);
    expect(contentOf(images, digest)).toEqual(expect.arrayContaining(['a', 'b']));
    expect(origin.sent.get(second)).toBe(1);
  });

  it('is never sent the credentials of the registry, nor the registry those of its mirror', async () => {
    origin.put('team/app', image('own'));
    mirror.put('team/app', image('own'));
    const [asked, asking] = await Promise.all(
      [origin, mirror].map(({ address }) => startAskingServer(address)),
    );
    if (!asked || !asking) throw new Error('two were started');
    try {
      kept.put({ registry: asked.address, username: 'own', password: 'one' });
      kept.put({ registry: asking.address, username: 'mirror', password: 'two' });
      const rules = {
        mirrors: parseRegistryMirrors('m', `${asked.address}=${asking.address}`),
        allowed: null,
      };
      const parts = { dataDir: scratch, cacheDir: scratch, helpers: createTestHelpers(), unpackPath };
      const log = { info() {}, warn, error() {} };
      const images = createImages({ ...parts, gates: gatesIn(scratch), registries: kept, rules, log });
      await images.init();
      // The mirror lets nobody at its manifests, so both are asked.
      mirror.trouble = ({ path }) => (path.includes('/manifests/') ? { status: 404 } : null);
      await images.ensure(`${asked.address}/team/app:1`);
      const sent = ({ asked: { token } }: typeof asked) => new Set(token.map((one) => one.authorization));
      expect(sent(asking)).toEqual(new Set([`Basic ${btoa('mirror:two')}`]));
      expect(sent(asked)).toEqual(new Set([`Basic ${btoa('own:one')}`]));
    } finally {
      await Promise.all([asked.close(), asking.close()]);
    }
  });
});

async function digestIn({ address }: RawRegistry, name: string): Promise<string> {
  const answer = await fetch(`http://${address}/v2/${name}/manifests/1`);
  const digest = answer.headers.get('docker-content-digest') ?? '';
  expect(digest).toMatch(/^sha256:/);
  return digest;
}
