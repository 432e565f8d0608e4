/** Admins who make a way in for somebody else: an invitation, and no way to read inside another user's sandboxes. */
import { afterEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const ben = 'ben@example.org';
const eve = 'eve@example.org';

let http: Harness;
afterEach(() => http.close());

const start = async (adminsReadInside = false) => {
  http = await startHttp({}, { adminsReadInside });
};

async function post(path: string, parameters: unknown, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${http.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(parameters),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const act = (name: string, parameters: unknown, key = API_KEY) => post(`/v1/admin/${name}`, parameters, key);
const whoIs = async (key: unknown) => (await post('/v1/tools/Sandbox.WhoAmI', {}, String(key))).body['email'];

/** Signs a browser in by the link of an answer; returns the status. */
async function open(answer: { body: Record<string, unknown> }): Promise<number> {
  const ticket = String(answer.body['url']).split('#ticket=')[1];
  const response = await fetch(`${http.url}/v1/sign-in`, {
    method: 'POST',
    headers: {
      ...{ origin: http.url, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' },
      'content-type': 'application/json',
    },
    body: JSON.stringify({ ticket }),
  });
  return response.status;
}

const because = (why: string) => ({
  status: 403,
  body: {
    code: 'permission_denied',
    parameter: 'user',
    detail: `The user ${why}, and admins may not read inside: who makes a way in acts as the user.`,
    hint: expect.stringMatching(/\S/),
  },
});

/** Both ways that an admin of this service has. The third, an identity, needs a provider: `test/oidc`. */
const refusesBoth = async (user: string, why: string) => {
  expect(await act('CreateKey', { name: 'spare', user })).toMatchObject(because(why));
  expect(await act('CreateSignInLink', { user })).toMatchObject(because(why));
};

describe('an admin who may not read inside', () => {
  it('invites who has no way in, once, by a key or by a link', async () => {
    await start();
    await act('CreateUser', { name: 'Eve', email: eve });
    const made = await act('CreateKey', { name: 'first', user: eve });
    expect(made).toMatchObject({
      status: 200,
      body: { email: eve, created_by: { user_id: 'user_1', email: 'ada@example.org' } },
    });
    await refusesBoth(eve, 'has a valid key already');
    await act('RevokeKey', { key_id: made.body['key_id'] });
    const link = await act('CreateSignInLink', { user: eve });
    await refusesBoth(eve, 'has a link already');
    expect([await open(link), await open(link)]).toEqual([200, 401]);
    await refusesBoth(eve, 'has come in already');
  });

  it('makes no key and no link for a member, by email or id, nor with fewer scopes or a team', async () => {
    await start();
    expect(await whoIs(MEMBER_KEY)).toBe(ben);
    for (const user of [ben, 'BEN@example.org', 'user_2']) await refusesBoth(user, 'has come in already');
    const narrow = { name: 'x', user: ben, scopes: ['sandboxes:read'] };
    expect(await act('CreateKey', narrow)).toMatchObject(because('has come in already'));
    await act('CreateTeam', { name: 'red' });
    await act('AddTeamMember', { team: 'red', user: ben });
    const bound = { name: 'x', user: ben, team: 'red' };
    expect(await act('CreateKey', bound)).toMatchObject(because('has come in already'));
    const { keys } = (await act('ListKeys', { user: ben })).body as { keys: unknown[] };
    expect(keys).toHaveLength(1);
  });

  it('opens no door by removing the ways in first, by another email, role or a disabled user', async () => {
    await start();
    await whoIs(MEMBER_KEY);
    const { keys } = (await act('ListKeys', { user: ben })).body as { keys: { key_id: string }[] };
    for (const { key_id } of keys) await act('RevokeKey', { key_id });
    await act('RevokeOtherSignIns', { user: ben });
    await refusesBoth(ben, 'has come in already');
    await act('UpdateUser', { user: ben, email: 'ada+ben@example.org', name: 'Ada', role: 'admin' });
    await refusesBoth('ada+ben@example.org', 'has come in already');
    await act('DisableUser', { user: 'user_2' });
    await act('EnableUser', { user: 'user_2' });
    await refusesBoth('user_2', 'has come in already');
  });

  it('is an invitation’s maker in the keys that the user sees, and the user makes more alone', async () => {
    await start();
    await act('CreateUser', { name: 'Eve', email: eve });
    const { api_key: first } = (await act('CreateKey', { name: 'first', user: eve })).body;
    const own = await act('CreateKey', { name: 'own' }, String(first));
    expect(own.body).toMatchObject({ email: eve, created_by: null });
    expect((await act('CreateSignInLink', {}, String(first))).status).toBe(200);
    const env = { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: String(first) };
    const { stdout } = await cliFor(http.url)(['keys'], { env });
    expect(stdout).toMatch(/first .* ada@example\.org /);
    expect(stdout).not.toMatch(/own .* ada@example\.org /);
  });

  it('makes own keys and links as ever', async () => {
    await start();
    expect((await act('CreateKey', { name: 'more', user: 'ada@example.org' })).body).toMatchObject({
      created_by: null,
    });
    expect((await act('CreateSignInLink', { user: 'user_1' })).status).toBe(200);
  });
});

describe('an admin who may read inside', () => {
  const rowsOf = async (key: string, action: string) =>
    (await act('ListAudit', { action }, key)).body['rows'];

  it('is named in the key, in the rows of its calls, and in the row of its making', async () => {
    await start(true);
    await whoIs(MEMBER_KEY);
    const made = await act('CreateKey', { name: 'help', user: ben });
    const { key_id, api_key } = made.body;
    expect(await whoIs(api_key)).toBe(ben);
    const { keys } = (await act('ListKeys', {}, MEMBER_KEY)).body as { keys: Record<string, unknown>[] };
    expect(keys.map(({ name, created_by }) => ({ name, created_by }))).toEqual([
      { name: 'help', created_by: { user_id: 'user_1', email: 'ada@example.org' } },
      { name: 'test', created_by: null },
    ]);
    expect(await rowsOf(MEMBER_KEY, 'CreateKey')).toMatchObject([
      { user_id: 'user_1', team_id: 'user_2', outcome: 'ok', made_by: null },
    ]);
    expect(await rowsOf(MEMBER_KEY, 'Sandbox.WhoAmI')).toMatchObject([
      { user_id: 'user_2', made_by: null },
      { user_id: 'user_2', key_id, made_by: 'user_1' },
    ]);
  });

  it('is named in the browser that a link has signed in', async () => {
    await start(true);
    const link = await act('CreateSignInLink', { user: ben });
    expect(await open(link)).toBe(200);
    expect((await act('ListSignIns', {}, MEMBER_KEY)).body).toMatchObject({
      sign_ins: [{ user_id: 'user_2', made_by: 'user_1' }],
    });
    expect(await rowsOf(MEMBER_KEY, 'CreateSignInLink')).toMatchObject([
      { user_id: 'user_1', team_id: 'user_2' },
    ]);
    expect(await rowsOf(MEMBER_KEY, 'sign_in.open')).toMatchObject([
      { user_id: 'user_2', made_by: 'user_1' },
    ]);
  });
});

describe('what an admin does to a user', () => {
  it.each([
    ['UpdateUser', { user: ben, name: 'Benedict' }],
    ['DisableUser', { user: ben }],
    ['RevokeOtherSignIns', { user: ben }],
    ['CreateKey', { user: ben, name: 'x' }],
    ['CreateSignInLink', { user: ben }],
    ['RemovePassword', { user: ben }],
    ['ListPasskeys', { user: ben }],
    ['RevokeKey', { key_id: 'key_0000000000000002' }],
  ])('is in the user’s rows: %s', async (action, parameters) => {
    await start();
    const own = String((await act('CreateKey', { name: 'own' }, MEMBER_KEY)).body['api_key']);
    await act(action, parameters);
    await act('EnableUser', { user: ben });
    const { rows } = (await act('ListAudit', { action }, own)).body as { rows: Record<string, unknown>[] };
    expect(rows.filter(({ user_id }) => user_id === 'user_1')).toMatchObject([{ team_id: 'user_2' }]);
  });
});
