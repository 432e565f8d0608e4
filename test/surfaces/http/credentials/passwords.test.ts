/** Passwords: set by who is signed in, and guessed by everybody else. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  API_KEY,
  type FakePeopleOptions,
  fakePeople,
  fakePeopleStore,
  MEMBER_KEY,
  type PeopleStore,
} from '../../fakes/fake-people.ts';
import { createFakeServices } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

const PASSWORD = 'four words chosen at random';
const MINUTE_MS = 60_000;

let store: PeopleStore;
let http: Harness;
/** Hashes that were computed. */
let hashes: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  store = fakePeopleStore();
  hashes = 0;
  http = await start();
});

afterEach(async () => {
  await http.close();
  vi.useRealTimers();
});

/** A process of the service: several may serve one store. */
async function start(options: FakePeopleOptions = {}): Promise<Harness> {
  const people = fakePeople({ store, onHash: () => void hashes++, ...options });
  const services = { ...createFakeServices().services, ...people };
  return Object.assign(await startHttp({ services }), { services });
}

function send(method: string, path: string, body: object, cookie = '', to = http): Promise<Response> {
  const page = { origin: to.url, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' };
  const headers = { ...page, 'content-type': 'application/json', ...(cookie ? { cookie } : {}) };
  return fetch(to.url + path, { method, headers, body: JSON.stringify(body) });
}

const cookieIn = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';

async function signInByKey(key = API_KEY): Promise<string> {
  return cookieIn(await send('POST', '/v1/sign-in', { api_key: key }));
}

async function setPassword(key = API_KEY, password = PASSWORD): Promise<string> {
  const cookie = await signInByKey(key);
  expect((await send('PUT', '/v1/sign-in/password', { password }, cookie)).status).toBe(200);
  return cookie;
}

const guess = (user: string, password: string, to = http) =>
  send('POST', '/v1/sign-in/password', { user, password }, '', to);

/** An attempt from a network of its own. */
const guessFrom = (address: string, user: string, password: string) =>
  http.services.passwords.signIn({ user, password }, address).then(
    ({ caller }) => caller.id,
    ({ code }: { code: string }) => code,
  );

function passkeyOf(userId: string): Promise<void> {
  return store.passkeys.addPasskey({
    ...{ id: `passkey_${userId}`, userId, name: 'Laptop', credentialId: userId, publicKey: Buffer.alloc(1) },
    ...{ counter: 0, transports: [], rpId: 'sandhaven.localhost', createdAt: 0, lastUsedAt: null },
  });
}

describe('a password', () => {
  it('signs in by email or by name, with all that the user may do', async () => {
    await setPassword();
    for (const name of ['ada@example.org', 'ADA@example.org', 'Ada']) {
      const response = await guess(name, PASSWORD);
      expect(await response.json()).toMatchObject({ user_id: 'user_1', role: 'admin', scopes: null });
      expect(response.headers.getSetCookie()[0]).toMatch(/^__Host-sandhaven=sgn_/);
    }
  });

  it('signs in at another process of the service, until it is removed', async () => {
    await setPassword();
    const other = await start();
    expect((await guess('Ada', PASSWORD, other)).status).toBe(200);
    await http.fetch('/v1/admin/RemovePassword', { method: 'POST' });
    expect((await guess('Ada', PASSWORD, other)).status).toBe(401);
    await other.close();
  });

  it('is the same text, however a keyboard writes it', async () => {
    await setPassword(API_KEY, 'un café très serré');
    expect((await guess('Ada', 'un café très serré')).status).toBe(200);
  });

  it('has twelve characters at least, and 1,024 bytes at most', async () => {
    const cookie = await signInByKey();
    const set = async (password: unknown) =>
      (await send('PUT', '/v1/sign-in/password', { password } as object, cookie)).status;
    expect(await set('elevenchars')).toBe(400);
    expect(await set('🔑'.repeat(11))).toBe(400);
    expect(await set('é'.repeat(513))).toBe(400);
    expect(await set('x'.repeat(1_025))).toBe(400);
    expect(await set(`${'x'.repeat(20)}\ud800`)).toBe(400);
    expect(await set(12)).toBe(400);
    expect(hashes).toBe(0);
    expect(await set('twelve chars')).toBe(200);
    expect(await set('é'.repeat(512))).toBe(200);
  });

  it('is repeated in no answer, and its hash is in none', async () => {
    const cookie = await signInByKey();
    const short = 'short one';
    const refused = await send('PUT', '/v1/sign-in/password', { password: short }, cookie);
    expect(await refused.text()).not.toContain(short);
    await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, cookie);
    const shown = await (await send('POST', '/v1/admin/ListPasskeys', {}, cookie)).text();
    expect(JSON.parse(shown)).toEqual({ passkeys: [], password_changed_at: new Date().toISOString() });
    const [owner] = await store.passwords.findPasswordOwners('Ada');
    expect(owner?.hash).toMatch(/^argon2id\$19456\$2\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(JSON.stringify(http.log)).not.toContain('words');
  });

  it('is no way in where the operator takes none', async () => {
    const strict = await start({ takesPasswords: false });
    const cookie = cookieIn(await send('POST', '/v1/sign-in', { api_key: API_KEY }, '', strict));
    const set = await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, cookie, strict);
    expect(set.status).toBe(412);
    expect((await guess('Ada', PASSWORD, strict)).status).toBe(412);
    expect(hashes).toBe(0);
    const ways = await fetch(`${strict.url}/v1/sign-in/ways`);
    expect(await ways.json()).toEqual({ ways: ['key', 'link'], provider: null });
    await strict.close();
  });
});

describe('a sign-in that may set a password', () => {
  it('is fifteen minutes old at most; signing in once more renews it and ends the earlier one', async () => {
    const old = await signInByKey();
    vi.advanceTimersByTime(15 * MINUTE_MS + 1);
    const late = await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, old);
    expect(await late.json()).toMatchObject({ code: 'failed_precondition', parameter: 'sign_in' });
    const renewed = cookieIn(await send('POST', '/v1/sign-in', { api_key: API_KEY }, old));
    const set = await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, renewed);
    expect(set.status).toBe(200);
    const before = await fetch(`${http.url}/v1/sign-in`, { headers: { cookie: old } });
    expect(before.status).toBe(401);
  });

  it('is a browser’s, and not that of a key, or of one with scopes', async () => {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ password: PASSWORD });
    expect((await http.fetch('/v1/sign-in/password', { ...init, body })).status).toBe(412);
    const details = { name: 'n', createdAt: 0, expiresAt: null, scopes: ['account'] as const };
    await store.keys.add('user_1', 'shv_narrow', details);
    const narrow = await signInByKey('shv_narrow');
    const set = await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, narrow);
    expect(set.status).toBe(403);
    expect(await store.passwords.passwordChangedAt('user_1')).toBeNull();
  });

  it('changes it ten times in a row at most', async () => {
    const cookie = await signInByKey();
    const codes = [];
    for (let count = 0; count < 11; count++)
      codes.push((await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, cookie)).status);
    expect(codes).toEqual([...Array(10).fill(200), 429]);
  });
});

describe('a guess', () => {
  it('computes one hash and gets one answer, whatever is wrong', async () => {
    await setPassword();
    await store.users.insertUser({
      ...{ id: 'user_3', name: 'Eve', email: 'eve@example.org', role: 'member' },
      ...{ createdAt: 0, disabledAt: null, quota: {} },
    });
    await http.services.users.disable('user_3');
    const [owner] = await store.passwords.findPasswordOwners('Ada');
    await store.passwords.setPassword('user_3', owner?.hash ?? '', 0);
    const wrong = [
      ['Ada', 'not the password at all'],
      ['nobody@example.org', PASSWORD],
      ['ben@example.org', PASSWORD],
      ['eve@example.org', PASSWORD],
      ['ada', PASSWORD],
    ] as const;
    const answers = [];
    for (const [user, password] of wrong) {
      hashes = 0;
      const response = await guess(user, password);
      expect(hashes, user).toBe(1);
      expect(response.status, user).toBe(401);
      const { request_id: _, ...answer } = (await response.json()) as Record<string, unknown>;
      answers.push(JSON.stringify(answer));
    }
    expect(new Set(answers).size).toBe(1);
  });

  it('of the right password is wrong too for a user with a passkey', async () => {
    await setPassword();
    await passkeyOf('user_1');
    hashes = 0;
    const right = await guess('Ada', PASSWORD);
    const wrong = await guess('Ada', 'not the password at all');
    expect([right.status, wrong.status, hashes]).toEqual([401, 401, 2]);
    const [one, other] = [await right.json(), await wrong.json()] as { detail: string; hint: string }[];
    expect([one?.detail, one?.hint]).toEqual([other?.detail, other?.hint]);
    expect(one?.hint).toContain('A user with a passkey signs in with that');
  });

  it('by a name that two users have is wrong, and by the email of one is not', async () => {
    await setPassword();
    await http.services.users.update('user_2', { name: 'Ada' });
    expect((await guess('Ada', PASSWORD)).status).toBe(401);
    expect((await guess('ada@example.org', PASSWORD)).status).toBe(200);
  });

  it('by the email of one who is called like another’s email means the owner of the address', async () => {
    await setPassword(MEMBER_KEY, 'the password of the member');
    await setPassword();
    await http.services.users.update('user_2', { name: 'ada@example.org' });
    expect((await guess('ada@example.org', 'the password of the member')).status).toBe(401);
    expect(await (await guess('ada@example.org', PASSWORD)).json()).toMatchObject({ user_id: 'user_1' });
  });

  it('waits after ten of one network, before a hash is computed', async () => {
    const codes = [];
    for (let count = 0; count < 12; count++) codes.push((await guess(`user ${count}`, PASSWORD)).status);
    expect(codes).toEqual([...Array(10).fill(401), 429, 429]);
    expect(hashes).toBe(10);
  });

  it('at one name from many networks waits, for users who are not there too; the owner’s networks do not', async () => {
    await setPassword();
    expect(await guessFrom('192.0.2.7', 'Ada', PASSWORD)).toBe('user_1');
    const tried = async (name: string) => {
      const codes = [];
      for (let network = 0; network < 11; network++)
        codes.push(await guessFrom(`198.51.${network}.1`, name, 'a wrong password'));
      return codes.filter((code) => code === 'unauthenticated').length;
    };
    expect(await tried('nobody')).toBe(10);
    // One attempt was the owner's own, from a network that was new then.
    expect(await tried('ada')).toBe(9);
    expect(await tried('Ada')).toBe(0);
    hashes = 0;
    expect(await guessFrom('203.0.113.1', 'Ada', PASSWORD)).toBe('resource_exhausted');
    expect(hashes).toBe(0);
    expect(await guessFrom('192.0.2.99', 'Ada', PASSWORD)).toBe('user_1');
  });

  it('waits in a line of thirty-two behind two, and no longer', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => guessFrom(`198.51.${n}.1`, `user ${n}`, PASSWORD)),
    );
    expect(outcomes.filter((code) => code === 'unauthenticated')).toHaveLength(34);
    expect(outcomes.filter((code) => code === 'resource_exhausted')).toHaveLength(6);
  });

  it('from many networks keeps no user out who signs in from a known one', async () => {
    await setPassword();
    expect(await guessFrom('192.0.2.1', 'Ada', PASSWORD)).toBe('user_1');
    const strangers = Array.from({ length: 40 }, (_, n) => guessFrom(`198.51.${n}.1`, `user ${n}`, PASSWORD));
    expect(await guessFrom('192.0.2.1', 'Ada', PASSWORD)).toBe('user_1');
    await Promise.all(strangers);
  });

  it('from another site is not looked at', async () => {
    const body = JSON.stringify({ user: 'Ada', password: PASSWORD });
    const headers = { 'content-type': 'application/json', origin: 'https://evil.example' };
    const path = '/v1/sign-in/password';
    expect((await fetch(http.url + path, { method: 'POST', headers, body })).status).toBe(403);
    expect(hashes).toBe(0);
  });
});

describe('a lost device', () => {
  it('is taken away by an admin, and by no other member', async () => {
    await setPassword(MEMBER_KEY);
    await passkeyOf('user_1');
    await passkeyOf('user_2');
    const admin = await signInByKey();
    const member = await signInByKey(MEMBER_KEY);
    const act = (name: string, body: object, cookie: string) =>
      send('POST', `/v1/admin/${name}`, body, cookie);
    const foreign = await act('RemovePasskey', { passkey: 'passkey_user_1' }, member);
    expect(foreign.status).toBe(404);
    expect((await act('RemovePassword', { user: 'user_1' }, member)).status).toBe(403);
    expect((await act('ListPasskeys', { user: 'user_1' }, member)).status).toBe(403);
    const others = await act('RenamePasskey', { passkey: 'passkey_user_2', name: 'x' }, admin);
    expect(others.status).toBe(404);
    expect((await act('RemovePasskey', { passkey: 'passkey_user_2' }, admin)).status).toBe(200);
    expect((await act('RemovePassword', { user: 'ben@example.org' }, admin)).status).toBe(200);
    const ended = await act('RevokeOtherSignIns', { user: 'ben@example.org' }, admin);
    expect(await ended.json()).toEqual({ user_id: 'user_2', revoked: 2 });
    expect((await act('ListPasskeys', {}, member)).status).toBe(401);
  });

  it('is a viewer’s to take away, who has what the role allows, and no key with less', async () => {
    await setPassword(MEMBER_KEY);
    await http.services.users.update('user_2', { role: 'viewer' });
    const viewer = await signInByKey(MEMBER_KEY);
    const set = await send('PUT', '/v1/sign-in/password', { password: `${PASSWORD} anew` }, viewer);
    expect(set.status).toBe(200);
    expect((await send('POST', '/v1/admin/CreateSignInLink', {}, viewer)).status).toBe(200);
    await store.keys.add('user_2', 'shv_narrow', {
      ...{ name: 'n', createdAt: 0, expiresAt: null, scopes: ['account'] },
    });
    const narrow = await signInByKey('shv_narrow');
    expect((await send('PUT', '/v1/sign-in/password', { password: PASSWORD }, narrow)).status).toBe(403);
    expect((await send('POST', '/v1/admin/CreateSignInLink', {}, narrow)).status).toBe(403);
  });

  it('takes no last way in by surprise', async () => {
    await passkeyOf('user_2');
    const [key] = (await store.keys.list('user_2', { page: 1, pageSize: 1 })).keys;
    const { caller } = await http.services.signIns.openFor(await http.services.users.find('user_2'));
    await store.keys.revoke(key?.id ?? '', Date.now());
    const last = http.services.passkeys.remove(caller, 'passkey_user_2');
    await expect(last).rejects.toMatchObject({
      code: 'failed_precondition',
      message: 'This is your last way in.',
    });
    const team = { id: 'team_0000000000000001', name: 'red', createdAt: 0, quota: {} };
    await store.teams.insert(team);
    const details = { name: 'n', createdAt: 0, expiresAt: null };
    await store.keys.add('user_2', 'shv_bound', { ...details, teamId: team.id });
    const bound = http.services.passkeys.remove(caller, 'passkey_user_2');
    await expect(bound).rejects.toMatchObject({ message: 'This is your last way in.' });
    await store.keys.add('user_2', 'shv_new', details);
    expect(await http.services.passkeys.remove(caller, 'passkey_user_2')).toMatchObject({ name: 'Laptop' });
  });

  it('has all other browsers of its user signed out at once, and this one not', async () => {
    const mine = await signInByKey();
    const lost = await signInByKey();
    const ended = await send('POST', '/v1/admin/RevokeOtherSignIns', {}, mine);
    expect(await ended.json()).toEqual({ user_id: 'user_1', revoked: 1 });
    const who = (cookie: string) => fetch(`${http.url}/v1/sign-in`, { headers: { cookie } });
    expect((await who(lost)).status).toBe(401);
    expect((await who(mine)).status).toBe(200);
  });
});
