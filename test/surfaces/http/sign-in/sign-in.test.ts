/** Signing in with a browser: the cookie, its end, and whoever tries to get at it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { API_KEY, MEMBER_KEY } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

let http: Harness;
/** What the service's own page sends. */
let page: Record<string, string>;

const MINUTE_MS = 60_000;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  http = await startHttp();
  page = { origin: http.url, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' };
});

afterEach(async () => {
  await http.close();
  vi.useRealTimers();
});

function post(path: string, body: object, headers: Record<string, string> = page): Promise<Response> {
  const type = { 'content-type': 'application/json' };
  return fetch(http.url + path, {
    method: 'POST',
    headers: { ...type, ...headers },
    body: JSON.stringify(body),
  });
}

/** The cookie of an answer, as a browser sends it back. */
function cookieIn(response: Response): string {
  const [cookie = ''] = response.headers.getSetCookie();
  expect(cookie).toMatch(
    /^__Host-sandhaven=sgn_[0-9a-z]{16}\.[0-9a-z]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; /,
  );
  return cookie.split(';')[0] ?? '';
}

async function signIn(apiKey = API_KEY): Promise<string> {
  const response = await post('/v1/sign-in', { api_key: apiKey });
  expect(response.status).toBe(200);
  return cookieIn(response);
}

const who = (cookie: string, headers: Record<string, string> = page) =>
  fetch(`${http.url}/v1/sign-in`, { headers: { ...headers, cookie } });
const create = (cookie: string, headers: Record<string, string> = page) =>
  post('/v1/tools/Sandbox.CreateSandbox', { name: 'box' }, { ...headers, cookie });

async function linkOf(key = API_KEY, user?: string): Promise<string> {
  const response = await post('/v1/admin/CreateSignInLink', user === undefined ? {} : { user }, {
    authorization: `Bearer ${key}`,
  });
  expect(response.status).toBe(200);
  const { url } = (await response.json()) as { url: string };
  return url.split('#ticket=')[1] ?? '';
}

describe('a sign-in', () => {
  it('with a key opens all that the key does, for thirty days at most', async () => {
    const response = await post('/v1/sign-in', { api_key: API_KEY });
    expect(await response.json()).toEqual({
      ...{ user_id: 'user_1', name: 'Ada', email: 'ada@example.org', role: 'admin', scopes: null },
      sign_in_id: expect.stringMatching(/^sgn_/),
      expires_at: new Date(Date.now() + 30 * 24 * 60 * MINUTE_MS).toISOString(),
    });
    expect(response.headers.getSetCookie()[0]).toMatch(/Max-Age=2592000$/);
    const cookie = cookieIn(response);
    expect((await create(cookie)).status).toBe(200);
    expect((await who(cookie)).status).toBe(200);
  });

  it('with a link works once, within fifteen minutes', async () => {
    const ticket = await linkOf();
    expect((await post('/v1/sign-in', { ticket })).status).toBe(200);
    const again = await post('/v1/sign-in', { ticket });
    expect(again.status).toBe(401);
    expect(again.headers.getSetCookie()).toEqual([]);
    const late = await linkOf();
    vi.advanceTimersByTime(15 * MINUTE_MS);
    expect((await post('/v1/sign-in', { ticket: late })).status).toBe(401);
  });

  it('as somebody else is for admins', async () => {
    const admin = { authorization: `Bearer ${API_KEY}` };
    await post('/v1/admin/CreateUser', { name: 'Eve', email: 'eve@example.org' }, admin);
    const ticket = await linkOf(API_KEY, 'eve@example.org');
    const response = await post('/v1/sign-in', { ticket });
    expect(await response.json()).toMatchObject({ name: 'Eve', role: 'member' });
    const refused = await post(
      '/v1/admin/CreateSignInLink',
      { user: 'ada@example.org' },
      { authorization: `Bearer ${MEMBER_KEY}` },
    );
    expect(refused.status).toBe(403);
  });

  it('has the scopes of its key, and a narrow key makes no link', async () => {
    const made = await post(
      '/v1/admin/CreateKey',
      { name: 'n', scopes: ['sandboxes:read', 'account'] },
      { authorization: `Bearer ${API_KEY}` },
    );
    const { api_key: narrow } = (await made.json()) as { api_key: string };
    const cookie = await signIn(narrow);
    expect((await create(cookie)).status).toBe(403);
    const link = await post('/v1/admin/CreateSignInLink', {}, { authorization: `Bearer ${narrow}` });
    expect(link.status).toBe(403);
  });

  it('is refused with anything else, in one way', async () => {
    for (const body of [{ api_key: 'shv_wrong' }, { ticket: 'wrong' }]) {
      const response = await post('/v1/sign-in', body);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'unauthenticated' });
    }
    for (const body of [
      {},
      { api_key: 'a', ticket: 'b' },
      { api_key: 7 },
      { other: 1 },
      { api_key: 'x'.repeat(600) },
    ]) {
      expect((await post('/v1/sign-in', body)).status).toBe(400);
    }
    const large = await post('/v1/sign-in', { api_key: 'x'.repeat(5_000) });
    expect(large.status).toBe(413);
  });

  it('opens nothing of /mcp, which is for programs', async () => {
    await http.close();
    let isReached = false;
    const handle = async () => {
      isReached = true;
    };
    http = await startHttp({ mcp: { handle } });
    page = { ...page, origin: http.url };
    const cookie = await signIn();
    expect((await post('/mcp', {}, { ...page, cookie })).status).toBe(401);
    expect(isReached).toBe(false);
  });
});

describe('the end of a sign-in', () => {
  it('comes when the browser signs out', async () => {
    const cookie = await signIn();
    const out = await fetch(`${http.url}/v1/sign-in`, { method: 'DELETE', headers: { ...page, cookie } });
    expect(out.status).toBe(200);
    expect(out.headers.getSetCookie()[0]).toMatch(/^__Host-sandhaven=; .*Max-Age=0$/);
    expect((await who(cookie)).status).toBe(401);
  });

  it('comes a day after its last use', async () => {
    const cookie = await signIn();
    vi.advanceTimersByTime(24 * 60 * MINUTE_MS - 1);
    expect((await who(cookie)).status).toBe(200);
    vi.advanceTimersByTime(24 * 60 * MINUTE_MS);
    const over = await who(cookie);
    expect(over.status).toBe(401);
    expect(over.headers.getSetCookie()[0]).toMatch(/Max-Age=0$/);
  });

  it('comes with its key, and cuts what is open', async () => {
    const made = await post('/v1/admin/CreateKey', { name: 'n' }, { authorization: `Bearer ${API_KEY}` });
    const { api_key: key, key_id: id } = (await made.json()) as { api_key: string; key_id: string };
    const cookie = await signIn(key);
    const stream = await fetch(`${http.url}/v1/events`, { headers: { ...page, cookie } });
    expect(stream.status).toBe(200);
    const ended = stream.text().then(
      () => 'closed',
      () => 'cut',
    );
    await post('/v1/admin/RevokeKey', { key_id: id }, { authorization: `Bearer ${API_KEY}` });
    expect(await ended).toBe('cut');
    expect((await who(cookie)).status).toBe(401);
  });

  it('comes by another browser of the same user, and of no other member', async () => {
    const cookie = await signIn();
    const id = /sgn_[0-9a-z]+/.exec(cookie)?.[0];
    const member = await signIn(MEMBER_KEY);
    const foreign = await post('/v1/admin/RevokeSignIn', { sign_in: id }, { ...page, cookie: member });
    expect(foreign.status).toBe(404);
    const other = await signIn();
    const listed = await post(
      '/v1/admin/ListSignIns',
      { user: 'ada@example.org' },
      { ...page, cookie: other },
    );
    const { sign_ins: all } = (await listed.json()) as {
      sign_ins: { sign_in_id: string; current: boolean }[];
    };
    expect(all.map(({ current }) => current)).toEqual([true, false]);
    expect(all[1]?.sign_in_id).toBe(id);
    expect(JSON.stringify(all)).not.toContain(cookie.split('.')[1]);
    expect((await post('/v1/admin/RevokeSignIn', { sign_in: id }, { ...page, cookie: other })).status).toBe(
      200,
    );
    expect((await who(cookie)).status).toBe(401);
    expect((await who(other)).status).toBe(200);
  });

  it('comes by an admin while its user is disabled, and stays once the user is enabled again', async () => {
    const cookie = await signIn(MEMBER_KEY);
    const id = /sgn_[0-9a-z]+/.exec(cookie)?.[0];
    const act = async (action: string, parameters: object) =>
      (await post(`/v1/admin/${action}`, parameters, { authorization: `Bearer ${API_KEY}` })).status;
    expect(await act('DisableUser', { user: 'ben@example.org' })).toBe(200);
    expect(await act('RevokeSignIn', { sign_in: id })).toBe(200);
    expect(await act('EnableUser', { user: 'ben@example.org' })).toBe(200);
    expect((await who(cookie)).status).toBe(401);
  });
});

describe('the token', () => {
  it('is replaced after a quarter of an hour, and the old one ends a minute after the new one was used', async () => {
    const old = await signIn();
    expect((await who(old)).headers.getSetCookie()).toEqual([]);
    vi.advanceTimersByTime(15 * MINUTE_MS);
    const next = cookieIn(await who(old));
    expect(next).not.toBe(old);
    // Requests side by side: the old one holds until the new one arrives, and gets no third.
    const beside = await who(old);
    expect([beside.status, beside.headers.getSetCookie()]).toEqual([200, []]);
    expect((await who(next)).status).toBe(200);
    vi.advanceTimersByTime(MINUTE_MS);
    expect((await who(old)).status).toBe(200);
    expect((await who(next)).status).toBe(200);
  });

  it('was stolen when an ended one comes back: the sign-in ends for both', async () => {
    const old = await signIn();
    vi.advanceTimersByTime(15 * MINUTE_MS);
    const next = cookieIn(await who(old));
    await who(next);
    vi.advanceTimersByTime(MINUTE_MS + 1);
    expect((await who(old)).status).toBe(401);
    expect((await who(next)).status).toBe(401);
  });

  it('is offered again when its answer was lost', async () => {
    const old = await signIn();
    vi.advanceTimersByTime(15 * MINUTE_MS);
    cookieIn(await who(old));
    vi.advanceTimersByTime(MINUTE_MS);
    const second = cookieIn(await who(old));
    expect((await who(second)).status).toBe(200);
  });
});
