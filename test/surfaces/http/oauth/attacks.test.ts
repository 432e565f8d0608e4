/** Attacks on authorizing: on redirect URIs, codes, PKCE, the decision, tokens, and whoever they are for. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { API_KEY, MEMBER_KEY } from '../../fakes/fake-services.ts';
import type { Harness } from '../http-harness.ts';
import { callTool, RawApp, type Tokens, tokensIn } from './app.ts';
import { startOAuth } from './oauth-harness.ts';
import { Person } from './person.ts';

let http: Harness;
let app: RawApp;
let person: Person;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  http = await startOAuth();
  app = await new RawApp(http.url).registered();
  person = await new Person(http.url).signIn(MEMBER_KEY);
});

afterEach(async () => {
  await http.close();
  vi.useRealTimers();
});

const codeFor = async (url = app.url()) => (await person.authorize(url)).searchParams.get('code');
const errorOf = async (answer: Response) => ((await answer.json()) as { error?: string }).error;

async function granted(more: Record<string, string> = {}): Promise<Tokens> {
  return tokensIn(await app.redeem(await codeFor(app.url(more))));
}

/** Opens a request that must lead nowhere. */
async function expectRefusedHere(url: URL): Promise<void> {
  const answer = await person.fetch(String(url), { headers: {} });
  expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
}

describe('a redirect URI', () => {
  it.each([
    ['another scheme', 'javascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['a scheme of an app', 'cursor://callback'],
    ['http elsewhere', 'http://app.example/callback'],
    ['a fragment', 'https://app.example/callback#x'],
    ['an empty fragment', 'https://app.example/callback#'],
    ['a wildcard', 'https://*.app.example/callback'],
    ['a user name', 'https://user@app.example/callback'],
    ['an empty user name', 'https://@app.example/callback'],
    ['loopback as a user name', 'http://127.0.0.1:80@app.example/'],
    ['a backslash', 'https://app.example\\@evil.example/'],
    ['an escaped host', 'https://app%2eexample/callback'],
    ['a host with a dot at its end', 'https://app.example./callback'],
    ['no authority', 'https:app.example/callback'],
    ['a line feed', 'https://app.example/\ncallback'],
    ['letters beyond ASCII', 'https://äpp.example/callback'],
    ['https on loopback', 'https://localhost/callback'],
    ['a name that only begins like loopback', 'http://localhost.evil.example/'],
    ['loopback in a short form', 'http://127.1/callback'],
    ['loopback as a number', 'http://2130706433/callback'],
    ['no URL', 'callback'],
  ])('is not registered with %s', async (_name, uri) => {
    const answer = await app.register({ redirect_uris: ['https://app.example/callback', uri] });
    expect([answer.status, await errorOf(answer)]).toEqual([400, 'invalid_redirect_uri']);
  });

  it.each([
    ['a longer path', 'https://app.example/callback/more'],
    ['a query', 'https://app.example/callback?x=1'],
    ['another port', 'https://app.example:8443/callback'],
    ['the standard port written out', 'https://app.example:443/callback'],
    ['a user name', 'https://user@app.example/callback'],
    ['the registered one as a user name', 'https://app.example@evil.example/callback'],
    ['a longer host', 'https://app.example.evil.example/callback'],
    ['an escaped letter', 'https://app.example/%63allback'],
    ['a step back', 'https://app.example/x/../callback'],
    ['other letters', 'https://APP.example/callback'],
    ['a fragment', 'https://app.example/callback#x'],
    ['a script', 'javascript:alert(1)'],
  ])('is refused with %s, without a redirect', async (_name, uri) => {
    await expectRefusedHere(app.url({ redirect_uri: uri }));
  });

  it('of loopback may have any port, and nothing else that differs', async () => {
    app.redirectUri = 'http://127.0.0.1:1111/callback';
    await app.register();
    const callback = await person.authorize(app.url({ redirect_uri: 'http://127.0.0.1:2222/callback' }));
    expect(callback.host).toBe('127.0.0.1:2222');
    for (const uri of [
      'http://localhost:1111/callback',
      'http://127.0.0.1:1111/other',
      'http://127.0.0.1:1111@evil.example/callback',
      'http://u@127.0.0.1:1111/callback',
    ])
      await expectRefusedHere(app.url({ redirect_uri: uri }));
  });

  it('given twice leads to the registered one at most, with an error', async () => {
    for (const first of [app.redirectUri, 'https://evil.example/']) {
      const twice = app.url({ redirect_uri: first });
      twice.searchParams.append('redirect_uri', 'https://evil.example/');
      const answer = await person.fetch(String(twice), { headers: {} });
      expect(answer.headers.get('location')).toMatch(
        /^https:\/\/app\.example\/callback\?error=invalid_request&/,
      );
    }
  });

  it('of an unknown client leads nowhere', async () => {
    await expectRefusedHere(app.url({ client_id: 'client_unknown' }));
  });
});

describe('a code', () => {
  it('works once: a second use ends all that the first one gave', async () => {
    const code = await codeFor();
    const tokens = await tokensIn(await app.redeem(code));
    expect((await callTool(http.url, tokens.access_token)).status).toBe(200);
    expect(await errorOf(await app.redeem(code))).toBe('invalid_grant');
    expect((await callTool(http.url, tokens.access_token)).status).toBe(401);
    expect(await errorOf(await app.refresh(tokens.refresh_token))).toBe('invalid_grant');
  });

  it('works once, also of two uses at a time', async () => {
    const code = await codeFor();
    const answers = await Promise.all([app.redeem(code), app.redeem(code), app.redeem(code)]);
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeLessThanOrEqual(1);
    for (const answer of good)
      expect((await callTool(http.url, (await tokensIn(answer)).access_token)).status).toBe(401);
  });

  it('works for its client alone, at its redirect URI alone, for a minute', async () => {
    const other = await new RawApp(http.url).registered();
    const code = await codeFor();
    expect(await errorOf(await app.redeem(code, { client_id: other.clientId }))).toBe('invalid_grant');
    expect(await errorOf(await app.redeem(code, { redirect_uri: 'https://app.example/' }))).toBe(
      'invalid_grant',
    );
    vi.advanceTimersByTime(61_000);
    expect(await errorOf(await app.redeem(code))).toBe('invalid_grant');
  });

  it.each([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['a plain one', { code_challenge_method: 'plain' }],
    ['one of no method, which means plain', { code_challenge_method: undefined }],
    ['one of no form', { code_challenge: 'short' }],
    ['another response type', { response_type: 'token' }],
  ])('is not given for a request with %s', async (_name, more) => {
    const answer = await person.fetch(String(app.url(more)), { headers: {} });
    const to = answer.headers.get('location') ?? '';
    expect(to).toMatch(
      /^https:\/\/app\.example\/callback[?#]error=(?:invalid_request|unsupported_response_type)&/,
    );
    expect(to).toContain(`iss=${encodeURIComponent(http.url)}`);
    expect(to).not.toContain('code=');
  });

  it('needs the right verifier', async () => {
    for (const verifier of ['', 'a'.repeat(43)])
      expect(await errorOf(await app.redeem(await codeFor(), { code_verifier: verifier }))).toMatch(
        /^invalid_/,
      );
  });

  it.each(['form_post', 'fragment', 'web_message'])('does not come by %s', async (mode) => {
    await expectRefusedHere(app.url({ response_mode: mode }));
  });
});

describe('a token', () => {
  it('opens MCP, and no other route', async () => {
    const { access_token: token } = await granted();
    for (const path of ['/v1/sign-in', '/v1/tools', '/v1/admin', '/v1/events']) {
      for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-api-key': token }])
        expect((await fetch(http.url + path, { headers })).status).toBe(401);
    }
    expect((await callTool(http.url, token)).status).toBe(200);
  });

  it('of a refresh opens nothing, nor does a code', async () => {
    const code = await codeFor();
    const { refresh_token: token } = await tokensIn(await app.redeem(code));
    for (const wrong of [token, code ?? '', 'x', `${token}x`])
      expect((await callTool(http.url, wrong)).status).toBe(401);
  });

  it('is not issued for another resource', async () => {
    const elsewhere = { resource: 'https://other.example/mcp' };
    const answer = await person.fetch(String(app.url(elsewhere)), { headers: {} });
    const to = new URL(answer.headers.get('location') ?? 'none:');
    expect(to.searchParams.get('error')).toBe('invalid_target');
    expect(await errorOf(await app.redeem(await codeFor(), elsewhere))).toBe('invalid_target');
    const { refresh_token: token } = await granted();
    expect(await errorOf(await app.refresh(token, elsewhere))).toBe('invalid_target');
  });

  it('opens nothing at another address of this very service', async () => {
    const { access_token: token } = await granted();
    const other = http.url.replace('127.0.0.1', 'localhost');
    expect((await callTool(other, token)).status).toBe(401);
    expect((await callTool(http.url, token)).status).toBe(200);
  });

  it('is good for a quarter of an hour', async () => {
    const tokens = await granted();
    expect(tokens.expires_in).toBe(900);
    vi.advanceTimersByTime(899_000);
    expect((await callTool(http.url, tokens.access_token)).status).toBe(200);
    vi.advanceTimersByTime(1_000);
    const over = await callTool(http.url, tokens.access_token);
    expect(over.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", /);
  });

  it('is revoked by its client, with its grant, and by no other client', async () => {
    const tokens = await granted();
    const other = await new RawApp(http.url).registered();
    await other.token({ token: tokens.access_token }, '/oauth/revoke');
    expect((await callTool(http.url, tokens.access_token)).status).toBe(200);
    const revoked = await app.token({ token: tokens.refresh_token }, '/oauth/revoke');
    expect(revoked.status).toBe(200);
    expect((await callTool(http.url, tokens.access_token)).status).toBe(401);
    expect(await errorOf(await app.refresh(tokens.refresh_token))).toBe('invalid_grant');
  });

  it('ends with its user', async () => {
    const tokens = await granted();
    await http.fetch('/v1/admin/DisableUser', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'ben@example.org' }),
    });
    expect((await callTool(http.url, tokens.access_token)).status).toBe(401);
    expect(await errorOf(await app.refresh(tokens.refresh_token))).toBe('invalid_grant');
  });
});

describe('a refresh token', () => {
  it('is replaced; used again later it ends the grant, and all that came of it', async () => {
    const first = await granted();
    const second = await tokensIn(await app.refresh(first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    vi.advanceTimersByTime(10_000);
    expect(await errorOf(await app.refresh(first.refresh_token))).toBe('invalid_grant');
    expect((await callTool(http.url, second.access_token)).status).toBe(401);
    expect(await errorOf(await app.refresh(second.refresh_token))).toBe('invalid_grant');
  });

  it('may be used by two requests side by side', async () => {
    const first = await granted();
    const answers = await Promise.all([app.refresh(first.refresh_token), app.refresh(first.refresh_token)]);
    for (const answer of answers)
      expect((await callTool(http.url, (await tokensIn(answer)).access_token)).status).toBe(200);
  });

  it('works for its client alone, and never for more than was granted', async () => {
    const other = await new RawApp(http.url).registered();
    const { refresh_token: token } = await granted({ scope: 'sandboxes:read documents:read' });
    expect(await errorOf(await app.refresh(token, { client_id: other.clientId }))).toBe('invalid_grant');
    expect(await errorOf(await app.refresh(token, { scope: 'sandboxes:write' }))).toBe('invalid_scope');
    const narrower = await tokensIn(await app.refresh(token, { scope: 'documents:read' }));
    expect(narrower.scope).toBe('documents:read');
    expect((await callTool(http.url, narrower.access_token)).status).toBe(403);
  });
});

describe('scopes', () => {
  it('are refused by 403, with those that are needed', async () => {
    const { access_token: token } = await granted();
    const refused = await callTool(http.url, token, 'Sandbox_CreateSandbox', { name: 'box' });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="sandboxes:read sandboxes:write", ` +
        `resource_metadata="${http.url}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(await refused.json()).toMatchObject({ code: 'permission_denied' });
  });

  it('of a request that this service does not know are left out', async () => {
    const tokens = await granted({ scope: 'openid offline_access documents:read root' });
    expect(tokens.scope).toBe('documents:read');
  });

  it.each([
    ['an admin', API_KEY],
    ['a member', MEMBER_KEY],
  ])('that open nothing over MCP are not asked for, nor given by %s', async (_name, key) => {
    await person.signIn(key);
    const path = await person.open(app.url({ scope: 'sandboxes:read account admin' }));
    expect((await person.asked(path)).scopes).toEqual(['sandboxes:read']);
    for (const scope of ['account', 'admin'])
      expect((await person.decide(path, { allow: true, scopes: [scope] })).status).toBe(400);
    const tokens = await granted({ scope: 'account documents:read admin' });
    expect(tokens.scope).toBe('documents:read');
    const beyond = app.refresh(tokens.refresh_token, { scope: 'admin' });
    expect(await errorOf(await beyond)).toBe('invalid_scope');
  });
});
