/** Pulls that end before their time: canceled, killed, or sent more than was said. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createImages, type LocalImages } from '../../src/runtime/images/images.ts';
import { guarded } from '../../src/runtime/images/pull.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from './helpers.ts';
import { put, type Registry, startRegistry } from './registry/registry.ts';
import { type StallingRegistry, startStallingRegistry } from './registry/stalling-registry.ts';

const log = { info() {}, warn() {}, error() {} };

let registry: Registry;
let stalling: StallingRegistry;
let dataDir: string;
let images: LocalImages;

beforeAll(async () => {
  registry = await startRegistry();
  await registry.push('large:1', {
    layers: [(folder) => put(folder, 'data', randomBytes(4_000_000).toString('base64'))],
  });
});

afterAll(() => registry.remove());

const open = (...registries: string[]) =>
  createImages({
    ...{ dataDir, cacheDir: dataDir, helpers: createTestHelpers(), unpackPath, log },
    ...{ gates: gatesIn(dataDir), rules: naming(...registries) },
  });

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-images-'));
  stalling = await startStallingRegistry(registry.address);
  images = open(registry.address, stalling.address);
  await images.init();
});

afterEach(async () => {
  await stalling.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('a pull that is interrupted', () => {
  it('leaves nothing when its caller gives up, and the next one succeeds', async () => {
    const reference = `${stalling.address}/large:1`;
    const controller = new AbortController();
    const canceled = images.ensure(reference, { signal: controller.signal });
    await stalling.stalled;
    controller.abort();
    await expect(canceled).rejects.toMatchObject({ code: 'unavailable' });
    stalling.release();
    expect(await images.ensure(reference)).toMatchObject({ reference });
    await expect.poll(() => imageFolders()).toEqual({ images: 1, unfinished: 0 });
  });

  it('goes on for a second caller when the first gives up', async () => {
    const reference = `${stalling.address}/large:1`;
    const controller = new AbortController();
    const canceled = images.ensure(reference, { signal: controller.signal });
    const staying = images.ensure(reference);
    await stalling.stalled;
    controller.abort();
    await expect(canceled).rejects.toMatchObject({ code: 'unavailable' });
    stalling.release();
    expect(await staying).toMatchObject({ reference });
    expect(imageFolders()).toEqual({ images: 1, unfinished: 0 });
  });

  it('leaves nothing half-made to be seen when the service is killed', async () => {
    const reference = `${stalling.address}/large:1`;
    const script = join(import.meta.dirname, 'pull-once.ts');
    const child = spawn(process.execPath, [script, dataDir, reference], { stdio: 'ignore' });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await stalling.stalled;
    child.kill('SIGKILL');
    await exited;
    expect(imageFolders()).toMatchObject({ images: 0 });
    // In place of the fence, which kills helpers of an earlier service: skopeo ends with its connection.
    stalling.cut();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const next = open(registry.address, stalling.address);
    await next.init();
    expect(imageFolders()).toEqual({ images: 0, unfinished: 0 });
    expect(await next.ensure(reference)).toMatchObject({ reference });
    expect(imageFolders()).toEqual({ images: 1, unfinished: 0 });
  });
});

describe('a registry that is not honest', () => {
  it('is refused for an image over the limit before anything is fetched', async () => {
    const digest = `sha256:${'1'.repeat(64)}`;
    const layer = { digest, size: 100 * 2 ** 30, mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' };
    const asked = await withManifest(
      { schemaVersion: 2, config: { digest, size: 2 }, layers: [layer] },
      (address) => expect(images.ensure(`${address}/huge:1`)).rejects.toMatchObject({ code: 'too_large' }),
    );
    expect(asked.some((url) => url.includes('/blobs/'))).toBe(false);
  });

  it.each([
    ['text', 'not JSON'],
    ['an empty object', {}],
    ['a list of itself', { manifests: [{ digest: 'sha256:x' }] }],
    ['a digest that is a path', { config: { digest: '../../etc/passwd' }, layers: [] }],
    ['too many layers', { config: { digest: `sha256:${'1'.repeat(64)}` }, layers: Array(1000).fill({}) }],
  ])('is refused when its manifest is %s', async (_, manifest) => {
    await withManifest(manifest, (address) =>
      expect(images.ensure(`${address}/odd:1`)).rejects.toMatchObject({ code: 'failed_precondition' }),
    );
  });
});

describe('a limit on growth', () => {
  it('ends the work, and its error is the one that the caller gets', async () => {
    let measured = 0;
    const over = new Error('over');
    const measure = async () => {
      if (++measured === 2) throw over;
    };
    const work = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    await expect(guarded(new AbortController().signal, measure, work)).rejects.toBe(over);
    expect(measured).toBe(2);
  });
});

function imageFolders(): { images: number; unfinished: number } {
  const names = readdirSync(join(dataDir, 'images')).filter(
    (name) => !['references', 'tmp', 'blobs'].includes(name),
  );
  return { images: names.length, unfinished: readdirSync(join(dataDir, 'images/tmp')).length };
}

/** Serves this as the manifest of every image; gives back which paths were asked for. */
async function withManifest(manifest: unknown, work: (address: string) => Promise<void>): Promise<string[]> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json' });
    response.end(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    images = open(address);
    await work(address);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return asked;
}
