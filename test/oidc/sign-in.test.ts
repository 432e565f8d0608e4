/** Signing in by a real provider: who comes in, as what, and with which audit. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { API_KEY, MEMBER_KEY } from '../surfaces/fakes/fake-people.ts';
import { startHttp } from '../surfaces/http/http-harness.ts';
import { Browser } from './support/browser.ts';
import { startWorld } from './support/signing-in.ts';
import { CLIENT_SECRET } from './support/team-provider.ts';

const grace = { name: 'Grace', email: 'grace@example.org', email_verified: true, groups: ['dev', 'hall'] };
const everything = { page: 1, page_size: 100 };

describe('a sign-in by the provider', () => {
  it('makes a user at the first time, and finds the same one again', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    const browser = new Browser();
    const done = await browser.signIn(world, 'sub-1', '/sandboxes?state=started#top');
    expect([done.status, done.headers.get('location')]).toEqual([303, '/sandboxes?state=started#top']);
    const first = (await (await browser.who(world)).json()) as { user_id: string };
    expect(first).toMatchObject({ name: 'Grace', email: 'grace@example.org', role: 'member', scopes: null });
    const again = new Browser();
    await again.signIn(world, 'sub-1');
    expect(await (await again.who(world)).json()).toMatchObject({ user_id: first.user_id });
    const listed = await (await world.act('ListIdentities', everything)).json();
    expect(listed).toMatchObject({
      identities: [{ issuer: world.team.issuer, subject: 'sub-1', user_id: first.user_id }],
      total_count: 1,
    });
  });

  it('sets the cookie of every sign-in, and takes that of the start away', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    const browser = new Browser();
    world.team.next = 'sub-1';
    const url = await browser.toCallback(world);
    const done = await browser.go(url);
    const [cookie, pending] = done.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-sandhaven=sgn_[0-9a-z]{16}\.[0-9a-z]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=25\d{5}$/,
    );
    expect(pending).toBe('__Host-sandhaven-provider=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0');
    expect(done.headers.get('cache-control')).toBe('no-store');
    expect(done.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('is asked for with PKCE, a state and a nonce, none of which is in the clear in the cookie', async () => {
    const world = await startWorld();
    const started = await new Browser().start(world);
    const { url } = (await started.json()) as { url: string };
    const asked = new URL(url).searchParams;
    expect(asked.get('response_type')).toBe('code');
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(asked.get('state')).toMatch(/^[0-9a-z]{43}$/);
    expect(asked.get('nonce')).toMatch(/^[0-9a-z]{43}$/);
    expect(asked.get('redirect_uri')).toBe(`${world.http.url}/v1/sign-in/provider/callback`);
    expect(asked.get('scope')).toBe('openid email profile groups');
    const [cookie = ''] = started.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-sandhaven-provider=[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    const box = Buffer.from(cookie.split(/[=;]/)[1] ?? '', 'base64url').toString('latin1');
    expect(box).not.toContain(asked.get('state'));
    expect(box).not.toContain('verifier');
  });

  it('is in the audit log with its way, in the name of its user', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    const browser = new Browser();
    await browser.signIn(world, 'sub-1');
    const { user_id } = (await (await browser.who(world)).json()) as { user_id: string };
    const rows = async () => {
      const listed = await world.act('ListAudit', { action: 'sign_in.provider' });
      return ((await listed.json()) as { rows: object[] }).rows;
    };
    await expect.poll(rows).toMatchObject([{ action: 'sign_in.provider', outcome: 'ok', user_id }]);
  });

  it('shows the secret of the client to nobody', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    await new Browser().signIn(world, 'sub-1');
    world.team.tamper = (tokens) => void Object.assign(tokens, { id_token: 'a.b.c' });
    const refused = await new Browser().signIn(world, 'sub-1');
    const shown = JSON.stringify([world.http.log, world.warnings]) + (await refused.text());
    expect(shown).not.toContain(CLIENT_SECRET);
    expect(shown).not.toContain(encodeURIComponent(CLIENT_SECRET));
  });
});

describe('groups', () => {
  it('give the role anew at every sign-in', async () => {
    const world = await startWorld();
    const role = async () => {
      const browser = new Browser();
      await browser.signIn(world, 'sub-1');
      return ((await (await browser.who(world)).json()) as { role: string }).role;
    };
    world.team.people.set('sub-1', grace);
    expect(await role()).toBe('member');
    world.team.people.set('sub-1', { ...grace, groups: ['ops'] });
    expect(await role()).toBe('admin');
    world.team.people.set('sub-1', grace);
    expect(await role()).toBe('member');
  });

  it('make nobody a member whom an admin has made a viewer, and still an admin of an admin group', async () => {
    const world = await startWorld();
    const browser = new Browser();
    const role = async () => ((await (await browser.who(world)).json()) as { role: string }).role;
    world.team.people.set('sub-1', grace);
    await browser.signIn(world, 'sub-1');
    await world.act('UpdateUser', { user: 'grace@example.org', role: 'viewer' });
    await browser.signIn(world, 'sub-1');
    expect(await role()).toBe('viewer');
    world.team.people.set('sub-1', { ...grace, groups: ['ops'] });
    await browser.signIn(world, 'sub-1');
    expect(await role()).toBe('admin');
  });

  it('count whatever stands beside them that is none', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', { ...grace, groups: [7, null, 'x'.repeat(300), 'dev'] as string[] });
    expect((await new Browser().signIn(world, 'sub-1')).status).toBe(303);
    world.team.people.set('sub-1', { ...grace, groups: 'dev' as unknown as string[] });
    expect((await new Browser().signIn(world, 'sub-1')).status).toBe(303);
    const many = Array.from({ length: 1_001 }, (_, at) => `group ${at}`);
    world.team.people.set('sub-1', { ...grace, groups: [...many, 'dev'] });
    expect((await new Browser().signIn(world, 'sub-1')).status).toBe(403);
  });

  it('refuse whoever is in none, and leave what is open to its end', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    const before = new Browser();
    await before.signIn(world, 'sub-1');
    for (const groups of [[], ['hall'], ['Dev'], undefined]) {
      const { groups: _, ...nobody } = grace;
      world.team.people.set('sub-1', groups ? { ...nobody, groups } : nobody);
      const refused = await new Browser().signIn(world, 'sub-1');
      expect(refused.status).toBe(403);
      expect(await refused.text()).toContain('Not signed in');
      expect(refused.headers.getSetCookie()).toEqual([]);
    }
    expect((await before.who(world)).status).toBe(200);
  });

  it('are not needed where a domain of confirmed addresses admits', async () => {
    const world = await startWorld({ adminGroups: '', memberGroups: '', emailDomains: 'example.org' });
    const status = async (person: object) => {
      world.team.people.set('sub-1', person);
      return (await new Browser().signIn(world, 'sub-1')).status;
    };
    const { groups: _, ...plain } = grace;
    expect(await status({ ...plain, email_verified: false })).toBe(403);
    expect(await status({ ...plain, email: 'grace@example.org.evil.example' })).toBe(403);
    expect(await status({ name: 'Grace', email: 'grace@example.org' })).toBe(403);
    expect(await status(plain)).toBe(303);
  });
});

describe('a user who is here already', () => {
  it('has the earlier sign-in of the browser ended by the next one', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', grace);
    const browser = new Browser();
    await browser.signIn(world, 'sub-1');
    const stolen = browser.copy();
    expect((await stolen.who(world)).status).toBe(200);
    await browser.signIn(world, 'sub-1');
    expect((await stolen.who(world)).status).toBe(401);
    expect((await browser.who(world)).status).toBe(200);
  });

  it('is not taken over by an e-mail address, until an admin links who never came in', async () => {
    const world = await startWorld();
    await world.act('CreateUser', { name: 'Eve', email: 'eve@example.org' });
    world.team.people.set('sub-eve', { ...grace, email: 'EVE@example.org' });
    const refused = await new Browser().signIn(world, 'sub-eve');
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('sandhaven identities link EMAIL --subject sub-eve');
    const linked = await world.act('LinkIdentity', { user: 'eve@example.org', subject: 'sub-eve' });
    expect(await linked.json()).toMatchObject({ email: 'eve@example.org', linked_by: 'user_1' });
    const browser = new Browser();
    await browser.signIn(world, 'sub-eve');
    expect(await (await browser.who(world)).json()).toMatchObject({ name: 'Eve', role: 'member' });
    const listed = await (await world.act('ListSignIns', { user: 'eve@example.org' })).json();
    expect(listed).toMatchObject({ sign_ins: [{ made_by: 'user_1' }] });
    const unlinked = await world.act('UnlinkIdentity', { subject: 'sub-eve' });
    expect(await unlinked.json()).toMatchObject({ email: 'eve@example.org', unlinked: true });
    expect((await browser.who(world)).status).toBe(401);
    expect((await new Browser().signIn(world, 'sub-eve')).status).toBe(409);
  });

  it('is not handed to an identity of an admin’s own', async () => {
    const world = await startWorld();
    world.team.people.set('sub-ada', { ...grace, email: 'ada@team.example' });
    const refused = await world.act('LinkIdentity', { user: 'ben@example.org', subject: 'sub-ada' });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      detail:
        'The user has a valid key already, and admins may not read inside: who makes a way in acts as the user.',
    });
    const browser = new Browser();
    await browser.signIn(world, 'sub-ada');
    expect(await (await browser.who(world)).json()).toMatchObject({ email: 'ada@team.example' });
  });

  it('links the person with the same address, signed in in the same browser, and no other', async () => {
    const world = await startWorld();
    world.team.people.set('sub-ben', { ...grace, email: 'BEN@example.org' });
    world.team.people.set('sub-other', { ...grace, email: 'other@example.org' });
    const signedIn = async (api_key: string) => {
      const browser = new Browser();
      const headers = { ...world.page, 'content-type': 'application/json' };
      const body = JSON.stringify({ api_key });
      await browser.go(`${world.http.url}/v1/sign-in`, { method: 'POST', headers, body });
      return browser;
    };
    expect((await (await signedIn(API_KEY)).signIn(world, 'sub-ben')).status).toBe(409);
    const narrow = await fetch(`${world.http.url}/v1/admin/CreateKey`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MEMBER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'n', scopes: ['sandboxes:read'] }),
    });
    const { api_key: narrowKey } = (await narrow.json()) as { api_key: string };
    expect((await (await signedIn(narrowKey)).signIn(world, 'sub-ben')).status).toBe(409);
    const other = await signedIn(MEMBER_KEY);
    await other.signIn(world, 'sub-other');
    expect(await (await other.who(world)).json()).toMatchObject({ email: 'other@example.org' });
    expect((await (await signedIn(MEMBER_KEY)).signIn(world, 'sub-ben')).status).toBe(303);
    const browser = new Browser();
    await browser.signIn(world, 'sub-ben');
    expect(await (await browser.who(world)).json()).toMatchObject({ user_id: 'user_2' });
  });

  it('stays out when an admin has disabled them, whatever their groups', async () => {
    const world = await startWorld();
    world.team.people.set('sub-1', { ...grace, groups: ['ops', 'dev'] });
    const browser = new Browser();
    await browser.signIn(world, 'sub-1');
    await world.act('DisableUser', { user: 'grace@example.org' });
    expect((await browser.who(world)).status).toBe(401);
    const refused = await new Browser().signIn(world, 'sub-1');
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    expect(await refused.text()).toContain('An admin has disabled your user.');
  });
});

describe('without a provider', () => {
  it('there are the other ways alone, and no identities to link', async () => {
    const http = await startHttp();
    onTestFinished(() => http.close());
    const shown = await fetch(`${http.url}/v1/sign-in/ways`);
    expect(await shown.json()).toEqual({ ways: ['key', 'link', 'password'], provider: null });
    for (const [method, path] of [
      ['POST', ''],
      ['GET', '/callback'],
      ['POST', '/logout'],
    ] as const)
      expect((await http.fetch(`/v1/sign-in/provider${path}`, { method })).status).toBe(404);
    const body = JSON.stringify({ user: 'ben@example.org', subject: 'sub-1' });
    const headers = { 'content-type': 'application/json' };
    const refused = await http.fetch('/v1/admin/LinkIdentity', { method: 'POST', headers, body });
    expect(refused.status).toBe(412);
    expect(await refused.json()).toMatchObject({ hint: expect.stringContaining('--oidc-issuer') });
  });
});

describe('the ways of signing in', () => {
  it('name the provider, to anybody, without asking it', async () => {
    const world = await startWorld();
    const shown = await fetch(`${world.http.url}/v1/sign-in/ways`);
    expect(await shown.json()).toEqual({
      ways: ['key', 'link', 'password', 'provider'],
      provider: { name: 'Team' },
    });
    expect(world.team.asked).toEqual([]);
  });
});
