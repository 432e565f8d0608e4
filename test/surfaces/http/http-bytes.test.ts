/** The byte routes: streams in and out, ranges, and clients that break off. */
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseRange, resolveRange } from '../../../src/surfaces/http/routes/bytes.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;

beforeAll(async () => {
  http = await startHttp();
});

afterAll(() => http.close());

const ten = Buffer.from('0123456789');

beforeEach(() => {
  http.files.clear();
  http.files.set('ten', { content: ten, mode: 0o644 });
  http.files.set('empty', { content: Buffer.alloc(0), mode: 0o644 });
  http.files.set('shrinking', { content: ten, mode: 0o644 });
});

function at(path: string, query: Record<string, string> = {}): string {
  return `/v1/sandboxes/my%20box/files?${new URLSearchParams({ path, ...query })}`;
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return http.fetch(at(path), { headers });
}

describe('PUT', () => {
  it('[WIRE-BYTES-01] writes the bytes as they are', async () => {
    const body = randomBytes(3_000_000);
    const response = await http.fetch(at('dir/ä b'), { method: 'PUT', body });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ path: 'dir/ä b', bytes_written: body.length, created: true });
    const written = http.files.get('dir/ä b')?.content ?? Buffer.alloc(0);
    expect(digest(written)).toBe(digest(body));
  });

  it.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('does not look into a body of type %s', async (type) => {
    const body = '{"not json';
    await http.fetch(at('x'), { method: 'PUT', body, headers: { 'content-type': type } });
    expect(http.files.get('x')?.content.toString()).toBe(body);
  });

  it('[WIRE-USER-01] [WIRE-USER-02] goes, as GET does, in the name of a Linux user', async () => {
    http.users.length = 0;
    await http.fetch(at('~/x', { user: 'ann' }), { method: 'PUT', body: 'x' });
    await http.fetch(at('~/x', { user: '1000' }));
    await http.fetch(at('~/x'));
    expect(http.users).toEqual(['ann', '1000', null]);
    for (const method of ['PUT', 'GET']) {
      const refused = await http.fetch(at('y', { user: 'Ann' }), { method });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ code: 'invalid_argument', parameter: 'user' });
    }
    expect(http.users).toHaveLength(3);
  });

  it('writes an empty file', async () => {
    const response = await http.fetch(at('x'), { method: 'PUT' });
    expect(await response.json()).toMatchObject({ bytes_written: 0 });
  });

  it('[WIRE-BYTES-04] honours mode and create_parents', async () => {
    await http.fetch(at('tool', { mode: '0755' }), { method: 'PUT', body: 'x' });
    expect(http.files.get('tool')?.mode).toBe(0o755);
    const refused = await http.fetch(at('a/b', { create_parents: 'false' }), { method: 'PUT', body: 'x' });
    expect(refused.status).toBe(404);
    expect(
      (await http.fetch(at('a/b', { create_parents: 'true' }), { method: 'PUT', body: 'x' })).status,
    ).toBe(200);
  });

  it('passes on that a write is to be durable', async () => {
    await http.fetch(at('kept', { durable: 'true' }), { method: 'PUT', body: 'x' });
    await http.fetch(at('usual'), { method: 'PUT', body: 'x' });
    expect(http.files.get('kept')?.durable).toBe(true);
    expect(http.files.get('usual')?.durable).toBe(false);
  });

  it.each([
    [{ mode: '999' }, 'mode'],
    [{ create_parents: 'yes' }, 'create_parents'],
    [{ durable: 'yes' }, 'durable'],
    [{ owner: 'root' }, 'owner'],
  ])('[WIRE-ARGS-01] refuses %j', async (query, parameter) => {
    const response = await http.fetch(at('x', query as Record<string, string>), { method: 'PUT', body: 'x' });
    expect(await response.json()).toMatchObject({ code: 'invalid_argument', parameter });
    expect(http.files.has('x')).toBe(false);
  });

  it('refuses a missing or doubled path', async () => {
    for (const query of ['', '?path=', '?path=a&path=b', '?path=a%00']) {
      const response = await http.fetch(`/v1/sandboxes/box/files${query}`, { method: 'PUT', body: 'x' });
      expect(await response.json()).toMatchObject({ code: 'invalid_argument', parameter: 'path' });
    }
  });

  it('[WIRE-HTTP-08] is cancelled when the client breaks off, and writes nothing', async () => {
    const socket = connect(http.port, '127.0.0.1');
    socket.write(
      `PUT ${at('half')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n` +
        'Content-Length: 1000000\r\n\r\nsome bytes',
    );
    await sleep(100);
    socket.destroy();
    await expect.poll(() => http.cancelled).toContain('write half true');
    expect(http.files.has('half')).toBe(false);
  });
});

describe('GET', () => {
  it('[WIRE-BYTES-02] gives the bytes as they are', async () => {
    const content = randomBytes(3_000_000);
    http.files.set('big', { content, mode: 0o644 });
    const response = await get('big');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(content.length));
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(digest(Buffer.from(await response.arrayBuffer()))).toBe(digest(content));
  });

  it('gives an empty file', async () => {
    const response = await get('empty');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=4-', '456789', 'bytes 4-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['bytes=9-9', '9', 'bytes 9-9/10'],
    ['bytes=5-99999999999999999999', '56789', 'bytes 5-9/10'],
    ['BYTES=0-0', '0', 'bytes 0-0/10'],
  ])('[WIRE-BYTES-03] %s', async (range, text, contentRange) => {
    const response = await get('ten', { range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(await response.text()).toBe(text);
  });

  it.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('[WIRE-BYTES-03] %s is 416', async (range) => {
    const response = await get('ten', { range });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toMatch(/^bytes \*\/\d+$/);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('416 of an empty file', async () => {
    for (const range of ['bytes=0-0', 'bytes=-1']) expect((await get('empty', { range })).status).toBe(416);
  });

  it.each(['bytes=3-1', 'bytes=a-b', 'bytes=', 'bytes=-', 'items=0-1', 'bytes=0-1,3-4'])(
    'sends everything for %s',
    async (range) => {
      const response = await get('ten', { range });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('0123456789');
    },
  );

  it('sends everything where a range hangs on a validator that never was', async () => {
    expect((await get('ten', { range: 'bytes=0-1', 'if-range': '"x"' })).status).toBe(200);
  });

  it('HEAD has the length and no body', async () => {
    const response = await http.fetch(at('ten'), { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('10');
    expect((await http.fetch(at('nope'), { method: 'HEAD' })).status).toBe(404);
  });

  it('is not_found as any other call', async () => {
    expect(await (await get('nope')).json()).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('breaks off when the file turns out shorter, and the connection serves no more', async () => {
    await expect(get('shrinking').then((response) => response.text())).rejects.toThrow();
    expect(await (await get('ten')).text()).toBe('0123456789');
  });

  it('[WIRE-HTTP-08] ends reading when the client leaves, and holds no more than a little meanwhile', async () => {
    const controller = new AbortController();
    const response = await fetch(http.url + at('endless'), {
      headers: { authorization: `Bearer ${API_KEY}` },
      signal: controller.signal,
    });
    const before = process.memoryUsage().rss;
    await sleep(300);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
    expect(response.status).toBe(200);
    controller.abort();
    await expect.poll(() => http.cancelled).toContain('read endless');
  });
});

describe('ranges', () => {
  it('resolve to bytes that the file has, or to nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string().map((text) => `bytes=${text}`),
          fc.tuple(fc.nat(30), fc.nat(30)).map(([a, b]) => `bytes=${a}-${b}`),
          fc.nat(30).map((n) => `bytes=-${n}`),
          fc.nat(30).map((n) => `bytes=${n}-`),
        ),
        fc.nat(20),
        (header, size) => {
          const request = parseRange(header);
          const range = request && resolveRange(request, size);
          if (!range) return;
          expect(range.start).toBeGreaterThanOrEqual(0);
          expect(range.end).toBeGreaterThanOrEqual(range.start);
          expect(range.end).toBeLessThan(size);
        },
      ),
    );
  });
});

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
