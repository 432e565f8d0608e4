/** GET /packages: clients of the service for who has none, to anybody, by fixed names. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { originForPrograms } from '../../../src/model/network/service-names.ts';
import { readPackages } from '../../../src/surfaces/http/packages.ts';
import { type Harness, startHttp } from './http-harness.ts';

/** Of `one` and of `two`. */
const SUM_OF_ONE = '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed';
const SUM_OF_TWO = '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3';

let folder: string;
let http: Harness;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packages-'));
  await writeFile(join(folder, 'sandhaven-mcp-1.2.3.tgz'), 'one');
  await writeFile(join(folder, 'sandhaven-1.2.3-py3-none-any.whl'), 'two');
  for (const name of ['.sources', 'secret.txt']) await writeFile(join(folder, name), 'no package');
  http = await startHttp({
    packages: await readPackages(folder),
    allowedHosts: ['127.0.0.1', 'localhost', 'sandhaven.localhost', 'box.example.org'],
  });
});

afterAll(async () => {
  await http.close();
  await rm(folder, { recursive: true });
});

const get = (path: string, init: RequestInit = {}) => fetch(http.url + path, init);

describe('a package', () => {
  it.each([
    ['sandhaven-mcp-1.2.3.tgz', 'one'],
    ['mcp.tgz', 'one'],
    ['sandhaven-1.2.3-py3-none-any.whl', 'two'],
  ])('%s comes without a key', async (name, body) => {
    const answer = await get(`/packages/${name}`);
    expect([answer.status, await answer.text()]).toEqual([200, body]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'content-type': 'application/octet-stream', 'content-length': '3' },
      ...{ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' },
    });
  });

  it('is not sent again to who has it, and not at all to HEAD', async () => {
    const { headers } = await get('/packages/mcp.tgz');
    expect(headers.get('etag')).toBe(`"${SUM_OF_ONE}"`);
    const again = await get('/packages/mcp.tgz', { headers: { 'if-none-match': `"${SUM_OF_ONE}"` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const head = await get('/packages/mcp.tgz', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '3', '']);
  });

  it.each([...['nothing.tgz', 'secret.txt', '.sources', '..%2fpackage.json', 'mcp.tgz%00', 'constructor']])(
    '%s is none, for browsers too',
    async (name) => {
      const answer = await get(`/packages/${name}`, { headers: { accept: 'text/html' } });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not_found', hint: 'GET /packages lists them.' });
    },
  );

  it('is for who asks this service alone', async () => {
    const raw = await http.raw(
      'GET /packages/mcp.tgz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    expect(raw).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe('the list', () => {
  it.each(['/packages', '/packages/'])('has names, sizes and SHA-256, at %s', async (path) => {
    const answer = await get(path);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({
      url: http.url,
      packages: [
        { name: 'sandhaven-1.2.3-py3-none-any.whl', alias: null, bytes: 3, sha256: SUM_OF_TWO },
        { name: 'sandhaven-mcp-1.2.3.tgz', alias: 'mcp.tgz', bytes: 3, sha256: SUM_OF_ONE },
      ],
    });
  });

  it('has links for pip, none that it would take for a version of sandhaven but the wheel', async () => {
    const answer = await get('/packages/', { headers: { accept: 'text/html' } });
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const links = [...(await answer.text()).matchAll(/<a href="([^"]+)">([^<]+)</g)].map((link) =>
      link.slice(1),
    );
    expect(links).toEqual([
      [`/packages/sandhaven-1.2.3-py3-none-any.whl#sha256=${SUM_OF_TWO}`, 'sandhaven-1.2.3-py3-none-any.whl'],
      [`/packages/mcp.tgz#sha256=${SUM_OF_ONE}`, 'mcp.tgz'],
    ]);
  });

  it('is empty where they were not built', async () => {
    expect(await readPackages(join(folder, 'missing'))).toEqual([]);
    const bare = await startHttp();
    expect(await (await fetch(`${bare.url}/packages/`)).json()).toEqual({ url: bare.url, packages: [] });
    await bare.close();
  });

  it('takes no more than fits in memory', async () => {
    const many = join(folder, 'many');
    await mkdir(many);
    for (let i = 0; i <= 64; i++) await writeFile(join(many, `a${i}.tgz`), '');
    await expect(readPackages(many)).rejects.toMatchObject({ code: 'failed_precondition' });
  });
});

describe('the address for programs', () => {
  const urlAt = async (host: string) => {
    const raw = await http.raw(`GET /packages/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return JSON.parse(raw.slice(raw.indexOf('\r\n\r\n'))).url;
  };

  it('is the one that the browser uses, with an address in place of a name that Debian does not resolve', async () => {
    expect(await urlAt('sandhaven.localhost:7420')).toBe('http://127.0.0.1:7420');
    expect(await urlAt('localhost:8000')).toBe('http://127.0.0.1:8000');
    expect(await urlAt('127.0.0.1:7420')).toBe('http://127.0.0.1:7420');
    expect(await urlAt('box.example.org')).toBe('http://box.example.org');
  });

  it('is the public one where there is one', async () => {
    const open = await startHttp({ publicUrl: 'https://box.example.org' });
    const list = (await (await fetch(`${open.url}/packages`)).json()) as { url: string };
    expect(list.url).toBe('https://box.example.org');
    await open.close();
  });

  it.each([
    ['http://localhost', '[::1]', 'http://[::1]'],
    ['http://a.b.localhost:81', '127.0.0.1', 'http://127.0.0.1:81'],
    ['http://notlocalhost:81', '127.0.0.1', 'http://notlocalhost:81'],
    ['http://localhost.example.org', '127.0.0.1', 'http://localhost.example.org'],
    ['https://sandhaven.localhost:7420', '127.0.0.1', 'https://sandhaven.localhost:7420'],
  ])('of %s is, beside %s, %s', (origin, loopback, expected) => {
    expect(originForPrograms(origin, loopback)).toBe(expected);
  });
});
