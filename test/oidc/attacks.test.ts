/** Whoever tries to get into somebody's session, or somebody into theirs, by the callback of the provider. */
import { UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { Browser } from './support/browser.ts';
import { startWorld, type World } from './support/signing-in.ts';
import { CLIENT_ID } from './support/team-provider.ts';

let world: World;

const grace = { name: 'Grace', email: 'grace@example.org', email_verified: true, groups: ['dev'] };
const mallory = { name: 'Mallory', email: 'mallory@example.org', email_verified: true, groups: ['dev'] };

beforeEach(async () => {
  world = await startWorld();
  world.team.people.set('sub-1', grace).set('sub-m', mallory);
  world.team.next = 'sub-1';
});

/** Expects that the browser is not signed in by this address. */
async function expectRefused(browser: Browser, url: string, status = 401): Promise<string> {
  const refused = await browser.go(url);
  expect(refused.status).toBe(status);
  expect(refused.headers.getSetCookie().filter((line) => line.startsWith('__Host-sandhaven='))).toEqual([]);
  expect((await browser.who(world)).status).toBe(401);
  return refused.text();
}

function changed(url: string, change: (query: URLSearchParams) => void): string {
  const other = new URL(url);
  change(other.searchParams);
  return other.href;
}

describe('the answer that a browser brings back', () => {
  it('counts once: neither state nor code work again, in whichever browser', async () => {
    const browser = new Browser();
    const url = await browser.toCallback(world);
    const cookies = new Map(browser.jar.get(world.http.url));
    expect((await browser.go(url)).status).toBe(303);
    const thief = new Browser();
    thief.jar.set(world.http.url, cookies);
    expect(await expectRefused(thief, url)).toContain('has not begun the sign-in');
  });

  it('counts in the browser alone that began: nobody is signed in as the sender of a link', async () => {
    const url = await signedInAs('sub-m');
    const victim = new Browser();
    await expectRefused(victim, url);
    // Also not when the victim is on the way to the provider itself.
    await victim.start(world);
    await expectRefused(victim, url);
  });

  it('counts with its own code: one of another session is not taken, nor a code of another browser', async () => {
    const stolen = new URL(await signedInAs('sub-m')).searchParams.get('code') ?? '';
    world.team.next = 'sub-1';
    const browser = new Browser();
    const url = await browser.toCallback(world);
    // The provider refuses it: the verifier of PKCE is another.
    await expectRefused(
      browser,
      changed(url, (query) => query.set('code', stolen)),
    );
  });

  it('comes from this provider: another issuer in its place, or none, is a mix-up', async () => {
    for (const issuer of ['https://evil.example', `${world.team.issuer}/`, null]) {
      const browser = new Browser();
      const url = await browser.toCallback(world);
      expect(new URL(url).searchParams.get('iss')).toBe(world.team.issuer);
      const asked = world.team.asked.filter((path) => path === '/token').length;
      await expectRefused(
        browser,
        changed(url, (query) => (issuer === null ? query.delete('iss') : query.set('iss', issuer))),
      );
      // The code went nowhere.
      expect(world.team.asked.filter((path) => path === '/token')).toHaveLength(asked);
    }
  });

  it.each([
    ['without a state', (query: URLSearchParams) => query.delete('state')],
    ['with another state', (query: URLSearchParams) => query.set('state', '0'.repeat(43))],
    ['with two states', (query: URLSearchParams) => query.append('state', query.get('state') ?? '')],
    ['with a query beyond all bounds', (query: URLSearchParams) => query.set('more', 'x'.repeat(4_096))],
  ])('is refused %s, and the right one works afterwards', async (_what, change) => {
    const browser = new Browser();
    const url = await browser.toCallback(world);
    await expectRefused(browser, changed(url, change));
    expect((await browser.go(url)).status).toBe(303);
  });

  it.each([
    ['without a code', (query: URLSearchParams) => query.delete('code')],
    ['with two codes', (query: URLSearchParams) => query.append('code', 'another')],
    ['with an ID token in the address', (query: URLSearchParams) => query.set('id_token', 'a.b.c')],
  ])('is refused %s', async (_what, change) => {
    const browser = new Browser();
    await expectRefused(browser, changed(await browser.toCallback(world), change));
  });

  it('is refused when the provider refuses, without a word of the provider', async () => {
    const browser = new Browser();
    const url = await browser.toCallback(world);
    const text = '<script>alert(1)</script>';
    const denied = changed(url, (query) => {
      query.delete('code');
      query.set('error', 'access_denied');
      query.set('error_description', text);
    });
    const shown = await expectRefused(browser, denied, 403);
    expect(shown).toContain('The identity provider did not sign you in.');
    expect(shown).not.toContain('alert');
  });

  it('is counted: whoever tries again and again waits', async () => {
    const codes = [];
    for (let count = 0; count < 12; count++)
      codes.push((await fetch(`${world.http.url}/v1/sign-in/provider/callback?state=x&code=y`)).status);
    expect(codes).toEqual([...Array(10).fill(401), 429, 429]);
  });

  it('is for a browser that opens a page: no picture, frame or script uses it up', async () => {
    const browser = new Browser();
    const url = await browser.toCallback(world);
    for (const part of ['image', 'iframe', 'script', 'empty']) {
      const refused = await browser.go(url, { headers: { 'sec-fetch-dest': part } });
      expect(refused.status).toBe(403);
    }
    expect((await fetch(url, { method: 'HEAD' })).status).not.toBe(303);
    expect((await browser.go(url, { headers: { 'sec-fetch-dest': 'document' } })).status).toBe(303);
  });

  async function signedInAs(subject: string): Promise<string> {
    world.team.next = subject;
    return new Browser().toCallback(world);
  }
});

describe('the cookie of a start', () => {
  it('is sealed: one that was changed, or made up, opens nothing', async () => {
    const browser = new Browser();
    const url = await browser.toCallback(world);
    const kept = browser.jar.get(world.http.url);
    const value = kept?.get('__Host-sandhaven-provider') ?? '';
    const flipped = Buffer.from(value, 'base64url');
    flipped[40] = (flipped[40] ?? 0) ^ 1;
    for (const other of [
      flipped.toString('base64url'),
      value.slice(0, 38),
      '',
      'x'.repeat(3_000),
      `${value}AA`,
    ]) {
      kept?.set('__Host-sandhaven-provider', other);
      await expectRefused(browser, url);
    }
    kept?.set('__Host-sandhaven-provider', value);
    expect((await browser.go(url)).status).toBe(303);
  });
});

describe('the ID token', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  type Claims = Record<string, unknown>;
  const claimsOf = (token: unknown) =>
    JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()) as Claims;

  /** Signs in with the claims of the real token, changed and signed anew by the provider's own key. */
  async function withClaims(change: (claims: Claims) => Claims): Promise<Response> {
    world.team.tamper = async (tokens) => {
      tokens['id_token'] = await world.team.sign(change(claimsOf(tokens['id_token'])));
    };
    return new Browser().signIn(world, 'sub-1');
  }

  it('counts when it is signed anew without a change, which shows that the others fail for their change', async () => {
    expect((await withClaims((claims) => claims)).status).toBe(303);
  });

  it.each([
    ['for another audience', { aud: 'somebody-else' }],
    ['for several audiences, without an authorized party', { aud: [CLIENT_ID, 'somebody-else'] }],
    ['for several audiences, and another party', { aud: [CLIENT_ID, 'somebody-else'], azp: 'somebody-else' }],
    ['for another party', { azp: 'somebody-else' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['with the nonce of another sign-in', { nonce: '0'.repeat(43) }],
    ['without a nonce', { nonce: undefined }],
    ['that is over', { exp: now() - 60 }],
    ['that is not valid yet', { nbf: now() + 600 }],
    ['without a subject', { sub: undefined }],
    ['with a subject beyond all bounds', { sub: 'x'.repeat(300) }],
  ])('is refused %s', async (_what, other) => {
    const refused = await withClaims((claims) => ({ ...claims, ...other }));
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []]);
  });

  it('counts within thirty seconds of a clock that goes wrong', async () => {
    expect((await withClaims((claims) => ({ ...claims, exp: now() - 15 }))).status).toBe(303);
  });

  it.each([
    ['without a signature', async (claims: Claims) => new UnsecuredJWT(claims).encode()],
    [
      'with the signature of other claims',
      async (claims: Claims) => {
        const signature = (await world.team.sign(claims)).split('.')[2];
        const other = await world.team.sign({ ...claims, sub: 'sub-m' });
        return [...other.split('.').slice(0, 2), signature].join('.');
      },
    ],
    [
      'with the public key as a shared secret',
      async (claims: Claims) => {
        const { keys } = (await (await fetch(`${world.team.issuer}/jwks`)).json()) as { keys: object[] };
        const { createHmac } = await import('node:crypto');
        const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
        const body = `${encode({ alg: 'HS256', kid: 'team' })}.${encode(claims)}`;
        return `${body}.${createHmac('sha256', JSON.stringify(keys[0])).update(body).digest('base64url')}`;
      },
    ],
    ['that is none', async () => 'not a token'],
  ])('is refused %s, whatever the provider says that it signs with', async (_what, make) => {
    const described = await (await fetch(`${world.team.issuer}/.well-known/openid-configuration`)).json();
    const algorithms = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] };
    world.team.instead = (request, response) => {
      if (!request.url?.startsWith('/.well-known/')) return false;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...(described as object), ...algorithms }));
      return true;
    };
    world.team.tamper = async (tokens) => {
      tokens['id_token'] = await make(claimsOf(tokens['id_token']));
    };
    const refused = await new Browser().signIn(world, 'sub-1');
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []]);
  });

  it('is refused when it is missing', async () => {
    world.team.tamper = (tokens) => void delete tokens['id_token'];
    expect((await new Browser().signIn(world, 'sub-1')).status).toBe(401);
  });

  it('and the userinfo endpoint speak of the same person', async () => {
    world.team.instead = (request, response) => {
      if (!request.url?.startsWith('/me')) return false;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...grace, sub: 'sub-m', groups: ['ops'] }));
      return true;
    };
    expect((await new Browser().signIn(world, 'sub-1')).status).toBe(401);
  });
});

describe('the return path', () => {
  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/%09/\n',
    'sandboxes',
    '/v1/admin/ListKeys',
    '/./v1/sign-in',
    `/${'x'.repeat(600)}`,
    '',
  ])('is a path of the page alone: %j', async (path) => {
    const refused = await new Browser().start(world, path);
    expect(refused.status).toBe(400);
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await refused.json()).toMatchObject({ parameter: 'return_path' });
  });
});

describe('the start', () => {
  it.each([
    ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a form, which has no header of its own', { 'x-sandhaven-request': undefined }],
  ])('is for the own page alone, and not for %s', async (_what, other) => {
    const headers = Object.fromEntries(
      Object.entries({ ...world.page, 'content-type': 'application/json', ...other }).filter(
        (pair): pair is [string, string] => pair[1] !== undefined,
      ),
    );
    const refused = await fetch(`${world.http.url}/v1/sign-in/provider`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
  });

  it('is at the name that the provider sends browsers back to, whose cookies come along', async () => {
    const at = `http://localhost:${world.http.port}`;
    const refused = await fetch(`${at}/v1/sign-in/provider`, {
      method: 'POST',
      headers: { ...world.page, origin: at, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(412);
    expect(await refused.json()).toMatchObject({ hint: expect.stringContaining(`Open ${world.http.url}`) });
  });

  it('counts among the attempts of its network, together with the other ways', async () => {
    const codes = [];
    for (let count = 0; count < 6; count++) codes.push((await new Browser().start(world)).status);
    for (let count = 0; count < 6; count++) {
      const guess = await fetch(`${world.http.url}/v1/sign-in`, {
        method: 'POST',
        headers: { ...world.page, 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: 'shv_guess' }),
      });
      codes.push(guess.status);
    }
    const password = await fetch(`${world.http.url}/v1/sign-in/password`, {
      method: 'POST',
      headers: { ...world.page, 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'ada@example.org', password: 'a guess of sixteen' }),
    });
    codes.push(password.status);
    expect(codes).toEqual([...Array(6).fill(200), ...Array(4).fill(401), 429, 429, 429]);
  });
});
