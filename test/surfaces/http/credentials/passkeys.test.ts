/** Passkeys with a real browser: added, used, and tried in every wrong way. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  API_KEY,
  fakePeople,
  fakePeopleStore,
  MEMBER_KEY,
  type PeopleStore,
} from '../../fakes/fake-people.ts';
import { createFakeServices } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';
import { type Machine, startMachine, type Visit, visit } from './browser.ts';

let machine: Machine;
let store: PeopleStore;
let http: Harness;
let home: string;
let ada: Visit;

beforeAll(async () => {
  machine = await startMachine();
}, 120_000);

afterAll(() => machine?.close());

beforeEach(async () => {
  store = fakePeopleStore();
  http = await start();
  home = `http://sandhaven.localhost:${http.port}`;
  http.services.passkeys.servedAt(home);
  ada = await visit(machine);
  await ada.go(home);
  return async () => {
    await ada.close();
    await http.close();
  };
}, 60_000);

/** A process of the service: several may serve one store. */
async function start(): Promise<Harness> {
  const services = { ...createFakeServices().services, ...fakePeople({ store }) };
  const allowedHosts = ['localhost', '127.0.0.1', 'sandhaven.localhost'];
  return Object.assign(await startHttp({ services, allowedHosts, page: machine.page }), { services });
}

const signInByKey = (who: Visit, key = API_KEY) => who.ask('POST', '/v1/sign-in', { api_key: key });
const question = async (who: Visit) =>
  (await who.ask('POST', '/v1/sign-in/passkey/challenge', {})).body.options;
const answer = (who: Visit, response: object) => who.ask('POST', '/v1/sign-in/passkey', { response });

async function add(who: Visit, key = API_KEY, name = 'Laptop'): Promise<string> {
  expect((await signInByKey(who, key)).status).toBe(200);
  const { body } = await who.ask('POST', '/v1/passkeys/challenge', {});
  const response = await who.make(body.options);
  const added = await who.ask('POST', '/v1/passkeys', { name, response });
  expect(added.body).toMatchObject({ name, works_at: 'sandhaven.localhost', last_used_at: null });
  return added.body.passkey_id;
}

async function signIn(who: Visit): Promise<number> {
  return (await answer(who, await who.sign(await question(who)))).status;
}

const signedIn = async (who: Visit) => (await who.ask('GET', '/v1/sign-in')).status === 200;

describe('a passkey', () => {
  it('that was added signs in without a name, and opens all that its user may do', async () => {
    await add(ada);
    await ada.ask('DELETE', '/v1/sign-in');
    const response = await ada.sign(await question(ada));
    const opened = await answer(ada, response);
    expect(opened.body).toMatchObject({ user_id: 'user_1', role: 'admin', scopes: null });
    expect(await signedIn(ada)).toBe(true);
    const { body } = await ada.ask('POST', '/v1/admin/ListAudit', {});
    const rows = body.rows.filter(({ action }: { action: string }) => /passkey|sign_in/.test(action));
    expect(rows.map(({ action }: { action: string }) => action)).toEqual([
      ...['sign_in.open', 'passkey.add', 'sign_in.close', 'sign_in.passkey'],
    ]);
  });

  it('is asked for in words that name no user and want verification', async () => {
    expect(await question(ada)).toEqual({
      ...{ rpId: 'sandhaven.localhost', userVerification: 'required', timeout: 300_000 },
      challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    await signInByKey(ada);
    const { body } = await ada.ask('POST', '/v1/passkeys/challenge', {});
    expect(body.options).toMatchObject({
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      user: { id: Buffer.from('user_1').toString('base64url'), name: 'ada@example.org', displayName: 'Ada' },
    });
  });

  it('is not added twice by one authenticator, and never for somebody else', async () => {
    await add(ada);
    const { body } = await ada.ask('POST', '/v1/passkeys/challenge', {});
    await expect(ada.make(body.options)).rejects.toThrow(/InvalidStateError|already/);
    await signInByKey(ada);
    const mine = await ada.ask('POST', '/v1/passkeys/challenge', {});
    const made = await ada.make({ ...mine.body.options, excludeCredentials: [] });
    await signInByKey(ada, MEMBER_KEY);
    const stolen = await ada.ask('POST', '/v1/passkeys', { name: 'x', response: made });
    expect(stolen).toMatchObject({ status: 400, body: { parameter: 'response' } });
    expect(await store.passkeys.listPasskeys('user_2')).toEqual([]);
  });

  it('signs in at another process of the service, and its answer works once for all of them', async () => {
    await add(ada);
    const other = await start();
    other.services.passkeys.servedAt(home);
    const asked = await question(ada);
    const cookies = await ada.page.cookies();
    const cookie = cookies.find(({ name }) => name === '__Host-sandhaven-challenge')?.value ?? '';
    const response = await ada.sign(asked);
    const opened = await other.services.passkeys.signIn({ origin: home, cookie }, response);
    expect(opened.caller.id).toBe('user_1');
    const again = http.services.passkeys.signIn({ origin: home, cookie }, response);
    await expect(again).rejects.toMatchObject({ code: 'unauthenticated' });
    await other.close();
  });

  it('is removed, and signs in no more', async () => {
    const id = await add(ada);
    const removed = await ada.ask('POST', '/v1/admin/RemovePasskey', { passkey: id });
    expect(removed.body).toMatchObject({ passkey_id: id, removed: true });
    expect(await signIn(ada)).toBe(401);
  });
});

describe('an answer is refused', () => {
  it('when it was made on a page of another origin', async () => {
    await add(ada);
    const asked = await question(ada);
    await ada.go(`http://sandhaven.localhost:${machine.otherPort}`);
    const response = await ada.sign(asked);
    await ada.go(home);
    expect((await answer(ada, response)).status).toBe(401);
  });

  it('at an address that passkeys are not bound to, which says where they are', async () => {
    await ada.go(http.url);
    const refused = await ada.ask('POST', '/v1/sign-in/passkey/challenge', {});
    expect(refused).toMatchObject({ status: 412, body: { hint: `Open ${home}.` } });
    expect((await ada.ask('GET', '/v1/sign-in/ways')).body.ways).toEqual(['key', 'link', 'password']);
    await ada.go(home);
    const ways = (await ada.ask('GET', '/v1/sign-in/ways')).body.ways;
    expect(ways).toEqual(['key', 'link', 'passkey', 'password']);
  });

  it('when it comes again', async () => {
    await add(ada);
    const asked = await question(ada);
    const [challenge] = (await ada.page.cookies()).filter(({ name }) => name.endsWith('-challenge'));
    const response = await ada.sign(asked);
    expect((await answer(ada, response)).status).toBe(200);
    expect((await answer(ada, response)).status).toBe(401);
    const { name = '', value = '' } = challenge ?? {};
    await ada.page.setCookie({ name, value, url: home, path: '/', secure: true, httpOnly: true });
    expect((await answer(ada, response)).status).toBe(401);
  });

  it('to a challenge of another browser, or of another purpose', async () => {
    await add(ada);
    const ben = await visit(machine);
    await ben.go(home);
    const foreign = await ada.sign(await question(ben));
    await question(ada);
    expect((await answer(ada, foreign)).status).toBe(401);
    const { body } = await ada.ask('POST', '/v1/passkeys/challenge', {});
    const { rpId, userVerification } = await question(ben);
    const response = await ada.sign({ rpId, userVerification, challenge: body.options.challenge });
    expect((await answer(ada, response)).status).toBe(401);
    await ben.close();
  });

  it('when it names another user, or carries another one’s credential', async () => {
    await add(ada);
    const ben = await visit(machine);
    await ben.go(home);
    await add(ben, MEMBER_KEY, 'Phone');
    const response = await ada.sign(await question(ada));
    const named = structuredClone(response);
    named.response.userHandle = Buffer.from('user_2').toString('base64url');
    expect((await answer(ada, named)).status).toBe(401);
    const { id, rawId, response: inner } = await ben.sign(await question(ben));
    const swapped = { ...response, id, rawId };
    swapped.response = { ...response.response, userHandle: inner.userHandle };
    expect((await answer(ada, swapped)).status).toBe(401);
    expect((await answer(ada, response)).status).toBe(200);
    expect((await ada.ask('GET', '/v1/sign-in')).body.user_id).toBe('user_1');
    await ben.close();
  });

  it('when the count of signatures goes back, as that of a copy does', async () => {
    await add(ada);
    expect(await signIn(ada)).toBe(200);
    expect(await signIn(ada)).toBe(200);
    await ada.authenticator.setCount(1);
    expect(await signIn(ada)).toBe(401);
  });

  it('when the person was not verified', async () => {
    await add(ada);
    await ada.authenticator.verifies(false);
    const response = await ada.sign({ ...(await question(ada)), userVerification: 'discouraged' });
    expect((await answer(ada, response)).status).toBe(401);
    const other = await visit(machine, false);
    await other.go(home);
    await signInByKey(other);
    const { options } = (await other.ask('POST', '/v1/passkeys/challenge', {})).body;
    const authenticatorSelection = { residentKey: 'required', userVerification: 'discouraged' };
    const made = await other.make({ ...options, excludeCredentials: [], authenticatorSelection });
    expect((await other.ask('POST', '/v1/passkeys', { name: 'x', response: made })).status).toBe(400);
    await other.close();
  });

  it('when it carries the certificate of an authenticator, which nobody asked for', async () => {
    await signInByKey(ada);
    const { body } = await ada.ask('POST', '/v1/passkeys/challenge', {});
    const made = await ada.make({ ...body.options, attestation: 'direct' });
    expect(Buffer.from(made.response.attestationObject, 'base64url').includes('x5c')).toBe(true);
    expect((await ada.ask('POST', '/v1/passkeys', { name: 'x', response: made })).status).toBe(400);
    expect(await store.passkeys.listPasskeys('user_1')).toEqual([]);
  });

  it('in a moment when it is hostile: of another shape, very deep, or large', async () => {
    await signInByKey(ada);
    const { body } = await ada.ask('POST', '/v1/passkeys/challenge', {});
    const made = await ada.make(body.options);
    const add = async (change: object) => {
      const response = { ...made, response: { ...made.response, ...change } };
      return (await ada.ask('POST', '/v1/passkeys', { name: 'x', response })).status;
    };
    const deep = Buffer.alloc(9_000, 0x81).toString('base64url');
    expect(await add({ attestationObject: deep })).toBe(400);
    expect(await add({ attestationObject: Buffer.from('a0', 'hex').toString('base64url') })).toBe(400);
    expect(await add({ attestationObject: 'A'.repeat(12_289) })).toBe(400);
    expect(await add({ clientDataJSON: Buffer.from('null').toString('base64url') })).toBe(400);
    expect(await add({ clientDataJSON: '<script>' })).toBe(400);
    expect(await add({ transports: Array(9).fill('usb') })).toBe(400);
    expect(await add({ transports: ['<script>'] })).toBe(400);
    expect((await ada.ask('POST', '/v1/passkeys', { name: '\u0007', response: made })).status).toBe(400);
    expect((await ada.ask('POST', '/v1/sign-in/passkey', { response: null })).status).toBe(400);
    expect((await answer(ada, { ...made, padding: 'x'.repeat(20_000) })).status).toBe(413);
    expect(await add({})).toBe(200);
  });

  it('once its user is disabled', async () => {
    await add(ada, MEMBER_KEY);
    await http.services.users.disable('user_2');
    expect(await signIn(ada)).toBe(401);
  });
});
