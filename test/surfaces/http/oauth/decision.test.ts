/** The decision is a person's own: who may make it, in which browser, and what it shows. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { skippableTime } from '../../../support/skip-time.ts';
import { API_KEY, MEMBER_KEY } from '../../fakes/fake-services.ts';
import type { Harness } from '../http-harness.ts';
import { callTool, RawApp, tokensIn } from './app.ts';
import { startOAuth } from './oauth-harness.ts';
import { Person } from './person.ts';

const KEEP_ALIVE_MS = 15_000;

let http: Harness;
let app: RawApp;

beforeEach(async () => {
  http = await startOAuth();
  app = await new RawApp(http.url).registered();
});

afterEach(() => http.close());

const signedIn = (key = MEMBER_KEY) => new Person(http.url).signIn(key);
const administration = (action: string, parameters: object, key = MEMBER_KEY) =>
  fetch(`${http.url}/v1/admin/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
const listed = async (key = MEMBER_KEY) =>
  (
    (await (await administration('ListAuthorizedApps', {}, key)).json()) as {
      apps: Record<string, unknown>[];
    }
  ).apps;

describe('a decision', () => {
  it('is made by a person who is signed in, and by no key', async () => {
    const stranger = new Person(http.url);
    const path = await stranger.open(app.url());
    expect((await stranger.fetch(`${path}/request`)).status).toBe(401);
    expect((await stranger.decide(path, { allow: true })).status).toBe(401);
    const withKey = { ...stranger.page, authorization: `Bearer ${API_KEY}` };
    expect((await stranger.fetch(`${path}/request`, { headers: withKey })).status).toBe(412);
  });

  it('may be made after signing in, in the same browser', async () => {
    const person = new Person(http.url);
    const path = await person.open(app.url());
    await person.signIn();
    expect((await person.decide(path, { allow: true })).status).toBe(200);
  });

  it('is not made about a request that began in another browser, whatever link was sent', async () => {
    const attacker = new Person(http.url);
    const path = await attacker.open(app.url());
    const person = await signedIn();
    expect((await person.fetch(`${path}/request`)).status).toBe(404);
    expect((await person.decide(path, { allow: true })).status).toBe(404);
  });

  it('of another browser is not carried on: the code goes to the browser of the person alone', async () => {
    const person = await signedIn();
    const decided = await person.decide(await person.open(app.url()), { allow: true });
    const { redirect_to: next } = (await decided.json()) as { redirect_to: string };
    const attacker = await new Person(http.url).fetch(next, { headers: {} });
    expect([attacker.status, attacker.headers.get('location')]).toEqual([400, null]);
  });

  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a site of the same domain', { 'sec-fetch-site': 'same-site' }],
    ['a form', { 'x-sandhaven-request': undefined }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
  ])('that %s causes is refused', async (_name, more) => {
    const person = await signedIn();
    const path = await person.open(app.url());
    const given = Object.entries({ ...person.page, ...more }).filter(([, value]) => value !== undefined);
    const headers = Object.fromEntries(given);
    const decide = person.fetch(`${path}/decision`, { method: 'POST', body: { allow: true }, headers });
    expect((await decide).status).toBe(403);
    expect(await listed()).toEqual([]);
  });

  it('is made once', async () => {
    const person = await signedIn();
    const path = await person.open(app.url());
    expect((await person.decide(path, { allow: true })).status).toBe(200);
    expect((await person.decide(path, { allow: true })).status).toBe(404);
    expect(await listed()).toHaveLength(1);
  });

  it('is asked for each time, with no regard to an earlier one, and never skipped', async () => {
    const person = await signedIn();
    await person.authorize(app.url());
    expect(await person.open(app.url())).toMatch(/^\/authorize\//);
    const answer = await person.fetch(String(app.url({ prompt: 'none' })), { headers: {} });
    expect(answer.headers.get('location')).toMatch(
      /^https:\/\/app\.example\/callback\?error=consent_required&/,
    );
  });

  it('gives no more than was asked, and something at least', async () => {
    const person = await signedIn();
    const path = await person.open(app.url());
    for (const scopes of [[], ['sandboxes:write'], ['root']])
      expect((await person.decide(path, { allow: true, scopes })).status).toBe(400);
  });

  it('gives no more than the key that the person has signed in with', async () => {
    const made = await administration('CreateKey', { name: 'n', scopes: ['sandboxes:read', 'account'] });
    const { api_key: narrow } = (await made.json()) as { api_key: string };
    const person = await signedIn(narrow);
    const path = await person.open(app.url({ scope: 'sandboxes:read sandboxes:write' }));
    expect((await person.asked(path)).scopes).toEqual(['sandboxes:read']);
  });
});

describe('what a person sees', () => {
  it('is framed by no page', async () => {
    const person = await signedIn();
    const path = await person.open(app.url());
    for (const shown of [path, `${path}/request`]) {
      const answer = await person.fetch(shown, { headers: { ...person.page, accept: 'text/html' } });
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('has names as one line of plain text', async () => {
    await app.register({ client_name: ' <img src=x onerror=alert(1)>\u202e\u0000\n your  bank ' });
    const person = await signedIn();
    const asked = await person.asked(await person.open(app.url()));
    expect(asked.client.name).toBe('<img src=x onerror=alert(1)> your bank');
    await app.register({ client_name: 'x'.repeat(500) });
    const long = await person.asked(await person.open(app.url()));
    expect(long.client.name).toBe('x'.repeat(100));
  });
});

describe('an authorized application', () => {
  it('is listed, and ends at once when it is revoked', async () => {
    const person = await signedIn();
    const code = (await person.authorize(app.url())).searchParams.get('code');
    const tokens = await tokensIn(await app.redeem(code));
    const [found] = await listed();
    expect(found).toMatchObject({
      ...{ user_id: 'user_2', client_name: 'Raw app', redirect_host: 'app.example' },
      ...{ scopes: ['sandboxes:read'], resource: `${http.url}/mcp` },
    });
    const id = String(found?.['app_id']);
    expect(await listed(API_KEY)).toHaveLength(1);
    expect((await administration('RevokeAuthorizedApp', { app: id })).status).toBe(200);
    expect((await callTool(http.url, tokens.access_token)).status).toBe(401);
    expect((await app.refresh(tokens.refresh_token)).status).toBe(400);
    expect(await listed()).toEqual([]);
  });

  it('of somebody else is not a member’s to revoke', async () => {
    const person = await signedIn(API_KEY);
    const code = (await person.authorize(app.url())).searchParams.get('code');
    await tokensIn(await app.redeem(code));
    const id = String((await listed(API_KEY))[0]?.['app_id']);
    expect((await administration('RevokeAuthorizedApp', { app: id })).status).toBe(404);
    expect(await listed()).toEqual([]);
  });

  it('of a disabled user is an admin’s to revoke, and is gone once the user is enabled again', async () => {
    const person = await signedIn();
    const code = (await person.authorize(app.url())).searchParams.get('code');
    const { access_token: token } = await tokensIn(await app.redeem(code));
    const id = String((await listed())[0]?.['app_id']);
    await administration('DisableUser', { user: 'ben@example.org' }, API_KEY);
    expect((await administration('RevokeAuthorizedApp', { app: id }, API_KEY)).status).toBe(200);
    await administration('EnableUser', { user: 'ben@example.org' }, API_KEY);
    expect((await callTool(http.url, token)).status).toBe(401);
  });

  it('whose call is under way is cut off when it is revoked', async () => {
    const person = await signedIn();
    const code = (
      await person.authorize(app.url({ scope: 'sandboxes:read sandboxes:write' }))
    ).searchParams.get('code');
    const { access_token: token } = await tokensIn(await app.redeem(code));
    await callTool(http.url, token, 'Sandbox_CreateSandbox', { name: 'box' }).then((answer) => answer.text());
    const run = vi.spyOn(http.services.execution, 'runCommand');
    const skip = skippableTime();
    const begun = callTool(http.url, token, 'Sandbox_RunCommand', { sandbox: 'box', command: 'sleep 60' });
    await expect.poll(() => run.mock.calls).toHaveLength(1);
    // Until the answer begins.
    await skip(KEEP_ALIVE_MS);
    const call = await begun;
    const [found] = await listed();
    await administration('RevokeAuthorizedApp', { app: found?.['app_id'] });
    await expect(call.text()).rejects.toThrow();
  });
});
