/** Users and keys, as admins and members manage them: over HTTP, and on the command line. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const KEYS_PER_USER = 100;

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterEach(() => http.close());

type Record_ = Record<string, unknown>;

async function act(
  name: string,
  parameters: unknown,
  key = API_KEY,
): Promise<{ status: number; body: Record_ }> {
  const response = await fetch(`${http.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record_ };
}

/** Whom a key opens the service for; null for nobody. */
async function owner(key: unknown): Promise<unknown> {
  const response = await fetch(`${http.url}/v1/tools/Sandbox.WhoAmI`, {
    method: 'POST',
    headers: { 'x-api-key': String(key), 'content-type': 'application/json' },
    body: '{}',
  });
  const body = (await response.json()) as Record_;
  if (response.status === 401) expect(body).toMatchObject({ code: 'unauthenticated' });
  return response.status === 200 ? body['email'] : null;
}

const ben = 'ben@example.org';

describe('users', () => {
  it('are changed in what is given, found by id or by email', async () => {
    const renamed = await act('UpdateUser', { user: 'BEN@example.org', name: 'Benedict', quota_cpu: 8 });
    expect(renamed.body).toMatchObject({
      ...{ user_id: 'user_2', name: 'Benedict', email: ben, role: 'member' },
      usage: { cpu: { used: 2, limit: 8, left: 6 }, disk: { used: 60, limit: null, left: null } },
    });
    expect((await act('UpdateUser', { user: 'user_2', role: 'admin' })).body).toMatchObject({
      role: 'admin',
    });
    expect(await act('UpdateUser', { user: 'nobody', name: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'not_found', resource: 'user' },
    });
    expect(await act('UpdateUser', { user: 'user_2' })).toMatchObject({ status: 400 });
    expect(await act('UpdateUser', { user: 'user_2', email: 'ada@example.org' })).toMatchObject({
      status: 409,
    });
  });

  it('have the quota of the service unless they have one of their own', async () => {
    const sandboxes = async (change: object) => {
      const { usage } = (await act('UpdateUser', { user: ben, ...change })).body as { usage: Record_ };
      return usage['sandboxes'];
    };
    expect(await sandboxes({ name: 'Ben' })).toEqual({ used: 3, limit: 10, left: 7 });
    expect(await sandboxes({ quota_sandboxes: 2 })).toEqual({ used: 3, limit: 2, left: 0 });
    expect(await sandboxes({ quota_sandboxes: -1 })).toEqual({ used: 3, limit: null, left: null });
    expect(await sandboxes({ quota_cpu: 1 })).toEqual({ used: 3, limit: null, left: null });
    expect(await sandboxes({ default_quota: true })).toEqual({ used: 3, limit: 10, left: 7 });
    expect(await act('UpdateUser', { user: ben, quota_sandboxes: -2 })).toMatchObject({ status: 400 });
  });

  it('[WIRE-ERR-12] keep their last enabled admin', async () => {
    for (const [action, parameters] of [
      ['UpdateUser', { user: 'user_1', role: 'member' }],
      ['DisableUser', { user: 'ada@example.org' }],
    ] as const) {
      expect(await act(action, parameters)).toMatchObject({
        status: 412,
        body: { code: 'failed_precondition' },
      });
    }
    await act('UpdateUser', { user: ben, role: 'admin' });
    expect(await act('DisableUser', { user: 'user_1' })).toMatchObject({ status: 200 });
  });

  it('[WIRE-AUTH-04] are let in by no key while they are disabled, until they are enabled again', async () => {
    expect(await owner(MEMBER_KEY)).toBe(ben);
    expect((await act('DisableUser', { user: ben })).body).toMatchObject({ disabled: true });
    expect(await owner(MEMBER_KEY)).toBeNull();
    await act('DisableUser', { user: ben });
    expect((await act('EnableUser', { user: ben })).body).toMatchObject({ disabled: false });
    expect(await owner(MEMBER_KEY)).toBe(ben);
  });
});

describe('keys', () => {
  it('[SBX-AUTH-01] [SBX-IDENT-01] open the service for their owner, and are shown once', async () => {
    const { body } = await act('CreateKey', { name: 'laptop' }, MEMBER_KEY);
    expect(body).toMatchObject({ name: 'laptop', email: ben, state: 'valid', expires_at: null });
    expect(await owner(body['api_key'])).toBe(ben);
    const listed = JSON.stringify((await act('ListKeys', {})).body);
    expect(listed).toContain(String(body['key_id']));
    expect(listed).not.toContain(String(body['api_key']));
    expect(JSON.stringify(http.log)).not.toContain(String(body['api_key']));
  });

  it('show when they were used last', async () => {
    const { body } = await act('CreateKey', { name: 'laptop' });
    const used = async () => {
      const { keys } = (await act('ListKeys', {})).body as { keys: Record_[] };
      return keys.find(({ key_id }) => key_id === body['key_id'])?.['last_used_at'];
    };
    expect(await used()).toBeNull();
    await owner(body['api_key']);
    expect(Date.parse(String(await used()))).toBeGreaterThan(Date.now() - 60_000);
  });

  it('[WIRE-AUTH-04] open nothing once they are revoked, at once and for good', async () => {
    const { body } = await act('CreateKey', { name: 'lost' }, MEMBER_KEY);
    const revoked = await act('RevokeKey', { key_id: body['key_id'] });
    expect(revoked.body).toMatchObject({ key_id: body['key_id'], state: 'revoked' });
    expect(await owner(body['api_key'])).toBeNull();
    expect(await act('RevokeKey', { key_id: body['key_id'] })).toEqual(revoked);
    expect(await owner(MEMBER_KEY)).toBe(ben);
  });

  it('may revoke themselves, and get the answer', async () => {
    const { body } = await act('CreateKey', { name: 'short' }, MEMBER_KEY);
    const own = String(body['api_key']);
    expect(await act('RevokeKey', { key_id: body['key_id'] }, own)).toMatchObject({ status: 200 });
    expect(await owner(own)).toBeNull();
  });

  it('expire', async () => {
    const { body } = await act('CreateKey', { name: 'short', expires_in_minutes: 5 });
    expect(Date.parse(String(body['expires_at'])) - Date.parse(String(body['created_at']))).toBe(5 * 60_000);
    expect(await act('CreateKey', { name: 'x', expires_in_minutes: -1 })).toMatchObject({ status: 400 });
  });

  it('of others cannot be seen, made or revoked by a member, as if they did not exist', async () => {
    const { body: adas } = await act('CreateKey', { name: 'of Ada' });
    const { body: mine } = await act('CreateKey', { name: 'of Ben' }, MEMBER_KEY);
    expect(mine).toMatchObject({ email: ben });
    const listed = (await act('ListKeys', {}, MEMBER_KEY)).body as { keys: Record_[] };
    expect(new Set(listed.keys.map(({ email }) => email))).toEqual(new Set([ben]));

    const problem = async (action: string, parameters: object) => {
      const { request_id, ...rest } = (await act(action, parameters, MEMBER_KEY)).body;
      return rest;
    };
    const revoke = async (key_id: unknown) => {
      const { detail, ...rest } = await problem('RevokeKey', { key_id });
      expect(detail).toBe(`There is no key '${key_id}'.`);
      return rest;
    };
    expect(await revoke(adas['key_id'])).toEqual(await revoke('key_fedcba9876543210'));
    expect(await owner(adas['api_key'])).toBe('ada@example.org');
    for (const action of ['ListKeys', 'CreateKey']) {
      const ask = (user: string) =>
        problem(action, { user, ...(action === 'CreateKey' ? { name: 'x' } : {}) });
      expect(await ask('ada@example.org')).toMatchObject({ code: 'permission_denied', parameter: 'user' });
      expect(await ask('ada@example.org')).toEqual(await ask('nobody@example.org'));
      expect(await ask(ben)).not.toHaveProperty('code');
    }
  });

  it('[WIRE-ERR-14] of one user have a bound, which dead ones do not count for', async () => {
    const { body: first } = await act('CreateKey', { name: 'first' }, MEMBER_KEY);
    for (let made = 2; made < KEYS_PER_USER; made++)
      expect((await act('CreateKey', { name: 'x' }, MEMBER_KEY)).status).toBe(200);
    expect(await act('CreateKey', { name: 'x' }, MEMBER_KEY)).toMatchObject({
      status: 429,
      body: { code: 'resource_exhausted' },
    });
    await act('RevokeKey', { key_id: first['key_id'] }, MEMBER_KEY);
    expect(await act('CreateKey', { name: 'x' }, MEMBER_KEY)).toMatchObject({ status: 200 });
  });
});

describe('work in progress of a key', () => {
  /** A command that goes on, over a connection that says when it is cut. */
  function working(key: unknown): Promise<'cut'> {
    const socket = connect(http.port, '127.0.0.1');
    const body = JSON.stringify({ command: 'sleep 600' });
    const cut = new Promise<'cut'>((resolve) => socket.once('close', () => resolve('cut')));
    socket.on('error', () => {});
    socket.write(
      `POST /v1/tools/Sandbox.RunCommand HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return cut;
  }

  it.each([
    ['is revoked', async (keyId: unknown) => act('RevokeKey', { key_id: keyId })],
    ['belongs to a user who is disabled', async () => act('DisableUser', { user: ben })],
  ])('ends when the key %s', async (_when, end) => {
    const { body } = await act('CreateKey', { name: 'busy' }, MEMBER_KEY);
    const cut = working(body['api_key']);
    await expect.poll(() => http.begun).toEqual(['sleep 600']);
    await end(body['key_id']);
    expect(await cut).toBe('cut');
    await expect.poll(() => http.cancelled).toEqual(['sleep 600']);
  });

  it('goes on when another key ends, or another user', async () => {
    const { body } = await act('CreateKey', { name: 'other' }, MEMBER_KEY);
    const cut = working(API_KEY);
    await expect.poll(() => http.begun).toEqual(['sleep 600']);
    await act('RevokeKey', { key_id: body['key_id'] });
    await act('DisableUser', { user: ben });
    expect(await Promise.race([cut, owner(API_KEY)])).toBe('ada@example.org');
    expect(http.cancelled).toEqual([]);
  });
});

describe('on the command line', () => {
  it('users are shown with what they use of what they may', async () => {
    const { stdout } = await cli(['users', 'update', ben, '--quota-cpu', '8']);
    const [head = '', row = ''] = stdout.split('\n');
    expect(head.split(/ +/)).toEqual([
      ...['USER', 'NAME', 'EMAIL', 'ROLE', 'STATE'],
      ...['SANDBOXES', 'CPU', 'MEMORY', 'DISK', 'SNAPSHOTS'],
    ]);
    expect(row.split(/ +/)).toEqual([
      ...['user_2', 'Ben', ben, 'member', 'enabled'],
      ...['3/10', '2/8', '4', '60', '1'],
    ]);
    expect((await cli(['users', 'disable', ben])).stdout).toContain('disabled');
    expect((await cli(['users', 'enable', ben])).stdout).toContain('enabled');
  });

  it('a key is made, listed and revoked', async () => {
    const builder = 'builder@example.org';
    await cli(['users', 'create', '--name', 'Builder', '--email', builder]);
    const made = await cli(['keys', 'create', 'farm', '--user', builder, '--expires-in-minutes', '60']);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const key = /api_key +(shv_\w+)/.exec(made.stdout)?.[1];
    expect(await owner(key)).toBe(builder);
    const { stdout } = await cli(['keys', 'list', builder]);
    const id = /(key_\S+) +farm +builder@example\.org .* ada@example\.org /.exec(stdout)?.[1];
    expect(stdout).not.toContain(key);
    expect((await cli(['keys', 'revoke', `${id}`])).stdout).toContain('revoked');
    expect(await owner(key)).toBeNull();
    expect(await cli(['keys', 'revoke', 'key_0123456789abcdef'])).toMatchObject({ code: 4 });
  });
});
