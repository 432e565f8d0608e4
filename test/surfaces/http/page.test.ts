/** The page: its files, its headers, and what is no part of it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../../src/surfaces/http/page.ts';
import { type Harness, startHttp } from './http-harness.ts';

const INDEX = '<!doctype html><title>Sandhaven</title>';
const SCRIPT = 'export const text = "a";\n'.repeat(100);

let folder: string;
let http: Harness;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'page-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), INDEX);
  await writeFile(join(folder, 'assets/main-1a2b.js'), SCRIPT);
  await writeFile(join(folder, 'icon.svg'), '<svg/>');
  http = await startHttp({ page: await readPage(folder) });
});

afterAll(async () => {
  await http.close();
  await rm(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(http.url + path, { headers });
const asBrowser = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

describe('the page', () => {
  it('is served to anybody, with no script but its own, in no frame', async () => {
    const response = await get('/');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(INDEX);
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
      expect(policy.split('; ')).toContain(part);
    expect(policy.split('; ')).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe|https?:/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
    });
  });

  it('is also what a browser opens at an address of its own', async () => {
    for (const path of ['/sandboxes/sb_1/files?path=/a', '/people', '/index.html'])
      expect(await (await get(path, asBrowser)).text(), path).toBe(INDEX);
  });

  it('has hashed files for good, compressed where the client takes it', async () => {
    const plain = await get('/assets/main-1a2b.js', { 'accept-encoding': 'identity' });
    expect(await plain.text()).toBe(SCRIPT);
    expect(plain.headers.get('content-encoding')).toBe(null);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const raw = await http.raw(
      'GET /assets/main-1a2b.js HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip, br\r\nConnection: close\r\n\r\n',
    );
    expect(raw).toMatch(/content-encoding: br\r\n/);
    expect(raw).toMatch(/vary: accept-encoding\r\n/);
    const zipped = await get('/assets/main-1a2b.js', { 'accept-encoding': 'gzip' });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(await zipped.text()).toBe(SCRIPT);
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get('/')).headers.get('etag') ?? '';
    const again = await get('/', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

describe('an answer to the page', () => {
  const list = async (headers: Record<string, string>) => {
    const answer = await http.fetch('/v1/tools', { headers });
    return { encoding: answer.headers.get('content-encoding'), text: await answer.text() };
  };

  it('is compressed where it is long and the browser takes it, and means the same', async () => {
    const plain = await list({ 'accept-encoding': 'gzip' });
    expect(plain.encoding).toBe(null);
    const page = { 'x-sandhaven-request': '1' };
    expect(await list({ ...page, 'accept-encoding': 'br, gzip' })).toEqual({ ...plain, encoding: 'gzip' });
    for (const accepted of ['identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br'])
      expect(await list({ ...page, 'accept-encoding': accepted }), accepted).toEqual(plain);
    const short = await http.fetch('/v1/sign-in', { headers: { ...page, 'accept-encoding': 'gzip' } });
    expect(short.headers.get('content-encoding')).toBe(null);
  });
});

describe('what is no part of it', () => {
  it('is refused as before: without a key, then as missing', async () => {
    for (const path of ['/v1/nothing', '/assets/nothing.js', '/auth/x', '/v1', '/nothing']) {
      expect((await get(path)).status, path).toBe(401);
      const missing = await http.fetch(path);
      expect(missing.status, path).toBe(404);
      expect(await missing.json()).toMatchObject({ code: 'not_found', resource: 'route' });
    }
    for (const path of ['/v1/nothing', '/assets/nothing.js', '/auth/x'])
      expect((await get(path, asBrowser)).status, path).toBe(401);
  });

  it('is no file of the machine', async () => {
    for (const path of [
      '/../package.json',
      '/%2e%2e/package.json',
      '/assets/..%2f..%2fetc/passwd',
      '//etc/passwd',
    ])
      expect(await http.raw(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 401 /,
      );
  });

  it('is a page for another Host', async () => {
    const raw = await http.raw('GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(raw).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe('without the built page', () => {
  it('the address says where the API is', async () => {
    expect(await readPage(join(folder, 'missing'))).toBeNull();
    const bare = await startHttp();
    const response = await fetch(`${bare.url}/`, { headers: asBrowser });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('/openapi.json');
    await bare.close();
  });
});

it('compresses without loss', async () => {
  const files = await readPage(folder);
  const [best] = files?.get('/assets/main-1a2b.js')?.compressed ?? [];
  expect(best?.encoding).toBe('br');
  expect(brotliDecompressSync(best?.body ?? Buffer.alloc(0)).toString()).toBe(SCRIPT);
});
