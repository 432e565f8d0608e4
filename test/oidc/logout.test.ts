/** The end of sign-ins by the provider's word, and words that it has not said. */
import { UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { Browser } from './support/browser.ts';
import { startWorld, type World } from './support/signing-in.ts';
import { CLIENT_ID, startTeamProvider } from './support/team-provider.ts';

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const grace = { name: 'Grace', email: 'grace@example.org', email_verified: true, groups: ['dev'] };

let world: World;

beforeEach(async () => {
  world = await startWorld();
  world.team.people.set('sub-1', grace).set('sub-2', { ...grace, email: 'other@example.org' });
});

/** Signs in; also resolves with the name of the session at the provider. */
async function signIn(subject: string): Promise<{ browser: Browser; sid: string }> {
  let sid = '';
  world.team.tamper = (tokens) => {
    const claims = Buffer.from(String(tokens['id_token']).split('.')[1] ?? '', 'base64url').toString();
    sid = (JSON.parse(claims) as { sid: string }).sid;
  };
  const browser = new Browser();
  expect((await browser.signIn(world, subject)).status).toBe(303);
  expect(sid).not.toBe('');
  return { browser, sid };
}

function send(token: string, type = 'application/x-www-form-urlencoded'): Promise<Response> {
  const body = new URLSearchParams({ logout_token: token }).toString();
  return fetch(`${world.http.url}/v1/sign-in/provider/logout`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
}

const now = () => Math.floor(Date.now() / 1_000);
let drawn = 0;
const claims = (more: object) => ({
  ...{ iss: world.team.issuer, aud: CLIENT_ID, iat: now(), exp: now() + 120, jti: `jti-${drawn++}` },
  ...{ events: EVENTS, sub: 'sub-1', ...more },
});
const status = async ({ browser }: { browser: Browser }) => (await browser.who(world)).status;

describe('a logout at the provider', () => {
  it('ends the sign-in of its session, cuts what it has open, and no other', async () => {
    const laptop = await signIn('sub-1');
    const phone = await signIn('sub-1');
    const other = await signIn('sub-2');
    const stream = await laptop.browser.go(`${world.http.url}/v1/events`, { headers: world.page });
    expect(stream.status).toBe(200);
    const ended = stream.text().then(
      () => 'closed',
      () => 'cut',
    );
    await world.team.endSession('sub-1', laptop.sid);
    expect(await ended).toBe('cut');
    expect([await status(laptop), await status(phone), await status(other)]).toEqual([401, 200, 200]);
  });

  it('ends all sign-ins of a subject when it names no session', async () => {
    const laptop = await signIn('sub-1');
    const phone = await signIn('sub-1');
    const other = await signIn('sub-2');
    const done = await send(await world.team.sign(claims({}), { typ: 'logout+jwt' }));
    expect([done.status, done.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await done.json()).toEqual({ ended: 2 });
    expect([await status(laptop), await status(phone), await status(other)]).toEqual([401, 401, 200]);
  });

  it('leaves sign-ins of the same user by a key alone', async () => {
    const made = await world.act('CreateKey', { name: 'n' });
    const { api_key: key } = (await made.json()) as { api_key: string };
    const browser = new Browser();
    await browser.go(`${world.http.url}/v1/sign-in`, {
      method: 'POST',
      headers: { ...world.page, 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: key }),
    });
    await world.act('LinkIdentity', { user: 'ada@example.org', subject: 'sub-1' });
    await send(await world.team.sign(claims({})));
    expect(await status({ browser })).toBe(200);
  });

  it('is in the audit log', async () => {
    await send(await world.team.sign(claims({})));
    const rows = async () => {
      const listed = await world.act('ListAudit', { action: 'sign_in.provider_close' });
      return ((await listed.json()) as { rows: object[] }).rows;
    };
    await expect
      .poll(rows)
      .toMatchObject([{ action: 'sign_in.provider_close', outcome: 'ok', user_id: null }]);
  });
});

describe('a logout token', () => {
  it('works once', async () => {
    const token = await world.team.sign(claims({}));
    expect((await send(token)).status).toBe(200);
    const open = await signIn('sub-1');
    const again = await send(token);
    expect(again.status).toBe(400);
    expect(await again.json()).toMatchObject({ detail: 'The logout token came before.' });
    expect(await status(open)).toBe(200);
  });

  it.each([
    ['for another audience', { aud: 'somebody-else' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['with a nonce, as an ID token has', { nonce: 'n' }],
    ['without its event', { events: { other: {} } }],
    ['without events', { events: undefined }],
    ['without an id', { jti: undefined }],
    ['without its time', { iat: undefined }],
    ['without an end', { exp: undefined }],
    ['that is over', { exp: now() - 60 }],
    ['that is ten minutes old', { iat: now() - 600 }],
    ['of the future', { iat: now() + 600 }],
    ['that names nobody', { sub: undefined }],
  ])('is refused %s', async (_what, other) => {
    const open = await signIn('sub-1');
    expect((await send(await world.team.sign(claims(other)))).status).toBe(400);
    expect(await status(open)).toBe(200);
  });

  it('is refused with another signature, another type, or none', async () => {
    const open = await signIn('sub-1');
    const stranger = await startTeamProvider(true);
    const tokens = [
      await stranger.sign(claims({})),
      await world.team.sign(claims({}), { typ: 'at+jwt' }),
      new UnsecuredJWT(claims({})).encode(),
      'a.b.c',
      '',
      'x'.repeat(8_000),
    ];
    await stranger.close();
    for (const token of tokens) expect((await send(token)).status).toBe(400);
    expect(await status(open)).toBe(200);
  });

  it('is a form within its bound, with one token', async () => {
    expect((await send('x'.repeat(20_000))).status).toBe(413);
    const two = await fetch(`${world.http.url}/v1/sign-in/provider/logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'logout_token=a&logout_token=b',
    });
    expect(two.status).toBe(400);
    expect((await send('a', 'application/json')).status).toBe(400);
  });
});
