/** Other sites, other cookies and guesses against the sign-in of a browser. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API_KEY } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

let http: Harness;
let page: Record<string, string>;
let cookie: string;

beforeEach(async () => {
  http = await startHttp();
  page = { origin: http.url, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' };
  cookie = await signIn();
});

afterEach(() => http.close());

function send(
  path: string,
  method: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Response> {
  return fetch(http.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
}

async function signIn(): Promise<string> {
  const headers = { ...page, 'content-type': 'application/json' };
  const response = await send('/v1/sign-in', 'POST', headers, JSON.stringify({ api_key: API_KEY }));
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const CREATE = '/v1/tools/Sandbox.CreateSandbox';
const json = { 'content-type': 'application/json' };

describe('a request that another site causes', () => {
  it.each([
    ['a page of another origin', { origin: 'https://evil.example', 'x-sandhaven-request': '1' }],
    ['another port of this host', { origin: 'http://127.0.0.1:1', 'x-sandhaven-request': '1' }],
    ['another protocol', { origin: 'https://127.0.0.1', 'x-sandhaven-request': '1' }],
    ['an opaque origin', { origin: 'null', 'x-sandhaven-request': '1' }],
    ['a form, which names its site', { 'sec-fetch-site': 'cross-site' }],
    ['a site of the same domain', { 'sec-fetch-site': 'same-site', 'x-sandhaven-request': '1' }],
    ['nobody who says so', {}],
    ['nobody, with the header', { 'x-sandhaven-request': '1' }],
  ])('changes nothing: %s', async (_, headers) => {
    const refused = await send(CREATE, 'POST', { ...json, ...headers, cookie }, '{}');
    expect(refused.status).toBe(403);
    expect(http.sandboxes.size).toBe(0);
    expect((await send('/v1/sign-in', 'DELETE', { ...headers, cookie })).status).toBe(403);
    expect((await send('/v1/sign-in', 'GET', { ...page, cookie })).status).toBe(200);
  });

  it('changes nothing without the header that no form sends', async () => {
    const { origin } = page;
    const form = { origin: origin ?? '', 'sec-fetch-site': 'same-origin', cookie };
    expect((await send(CREATE, 'POST', { ...json, ...form }, '{}')).status).toBe(403);
    expect(http.sandboxes.size).toBe(0);
  });

  it('reads nothing, and opens no stream', async () => {
    for (const site of ['cross-site', 'same-site']) {
      for (const path of ['/v1/sign-in', '/v1/events', '/v1/tools'])
        expect((await send(path, 'GET', { 'sec-fetch-site': site, cookie })).status).toBe(403);
    }
  });

  it('opens no connection: an upgrade needs the page’s Origin, which browsers always name', async () => {
    const upgrade = (headers: string) =>
      http.raw(
        `GET /v1/sandboxes/box/tunnel?port=80 HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nCookie: ${cookie}\r\n` +
          `Connection: Upgrade\r\nUpgrade: tcp\r\n${headers}\r\n`,
      );
    expect(await upgrade('')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await upgrade('Origin: https://evil.example\r\n')).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('signs nobody in: a browser does not get a cookie of somebody else’s choice', async () => {
    const { origin: _, ...noOrigin } = page;
    for (const headers of [
      noOrigin,
      { ...page, origin: 'https://evil.example' },
      { ...page, 'sec-fetch-site': 'cross-site' },
    ]) {
      const response = await send(
        '/v1/sign-in',
        'POST',
        { ...json, ...headers },
        JSON.stringify({ api_key: API_KEY }),
      );
      expect(response.status).toBe(403);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });
});

describe('a cookie that somebody has set', () => {
  it('is not adopted by a sign-in: each has a new one', async () => {
    const headers = { ...json, ...page, cookie };
    const response = await send('/v1/sign-in', 'POST', headers, JSON.stringify({ api_key: API_KEY }));
    const fresh = response.headers.getSetCookie()[0]?.split(';')[0];
    expect(fresh).not.toBe(cookie);
    expect(fresh?.split('.')[0]).not.toBe(cookie.split('.')[0]);
  });

  it('opens nothing beside the real one, with a wrong token, or with another id', async () => {
    const [id = '', token = ''] = cookie.split('.');
    const wrong = [
      `${cookie}; ${id}.${'0'.repeat(43)}`,
      `${id}.${'0'.repeat(43)}`,
      `__Host-sandhaven=sgn_${'0'.repeat(16)}.${token}`,
      '__Host-sandhaven=',
      `sandhaven=${cookie.split('=')[1]}`,
    ];
    for (const other of wrong) {
      const response = await send('/v1/sign-in', 'GET', { ...page, cookie: other });
      expect(response.status, other).toBe(401);
    }
    expect((await send('/v1/sign-in', 'GET', { ...page, cookie })).status).toBe(200);
  });

  it('counts less than a key', async () => {
    const response = await send('/v1/sign-in', 'GET', { authorization: `Bearer ${API_KEY}`, cookie });
    expect(await response.json()).toMatchObject({ sign_in_id: null });
  });
});

describe('guesses', () => {
  it('wait after ten of one network, while the signed in go on', async () => {
    const guess = () =>
      send('/v1/sign-in', 'POST', { ...json, ...page }, JSON.stringify({ api_key: 'shv_guess' }));
    const codes = [];
    for (let count = 0; count < 12; count++) codes.push((await guess()).status);
    // One attempt was the sign-in above.
    expect(codes).toEqual([...Array(9).fill(401), 429, 429, 429]);
    const refused = await guess();
    expect(await refused.json()).toMatchObject({ code: 'resource_exhausted', retry_after_seconds: 5 });
    expect((await send('/v1/sign-in', 'GET', { ...page, cookie })).status).toBe(200);
    expect((await send(CREATE, 'POST', { ...json, ...page, cookie }, '{}')).status).toBe(200);
  });
});
