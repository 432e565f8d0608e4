/** Keys with scopes on every route, and in the hands of somebody who wants more. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;

beforeEach(async () => {
  http = await startHttp();
});

afterEach(() => http.close());

const JSON_TYPE = { 'content-type': 'application/json' };

async function keyWith(scopes: string[], from = API_KEY, more: object = {}): Promise<Response> {
  return http.fetch('/v1/admin/CreateKey', {
    method: 'POST',
    headers: { ...JSON_TYPE, authorization: `Bearer ${from}` },
    body: JSON.stringify({ name: 'narrow', scopes, ...more }),
  });
}

async function made(scopes: string[], from = API_KEY): Promise<string> {
  const response = await keyWith(scopes, from);
  expect(response.status).toBe(200);
  const { api_key: key, scopes: shown } = (await response.json()) as { api_key: string; scopes: string[] };
  expect(shown).toEqual(scopes);
  return key;
}

function call(key: string, tool: string, parameters: object = {}): Promise<Response> {
  return http.call(tool, parameters, { authorization: `Bearer ${key}` });
}

const files = '/v1/sandboxes/box/files?path=/a';

describe('a key that may only read', () => {
  let key: string;
  let headers: Record<string, string>;

  beforeEach(async () => {
    await http.call('Sandbox.CreateSandbox', { name: 'box' });
    http.files.set('/a', { content: Buffer.from('hello'), mode: 0o644 });
    key = await made(['sandboxes:read']);
    headers = { authorization: `Bearer ${key}` };
  });

  it('lists, and creates nothing', async () => {
    expect((await call(key, 'Sandbox.ListSandboxes')).status).toBe(200);
    const refused = await call(key, 'Sandbox.CreateSandbox', { name: 'other' });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      code: 'permission_denied',
      detail: 'This key, sign-in or application lacks the scope sandboxes:write.',
      hint: 'Use a key with it, or let the application ask for it.',
    });
    expect(http.sandboxes.size).toBe(1);
  });

  it('downloads, and uploads nothing', async () => {
    expect(await (await http.fetch(files, { headers })).text()).toBe('hello');
    const refused = await http.fetch(files, { method: 'PUT', headers, body: 'changed' });
    expect(refused.status).toBe(403);
    expect(http.files.get('/a')?.content.toString()).toBe('hello');
  });

  it('opens no tunnel, makes no key, and queries no documents', async () => {
    const tunnel = await http.raw(
      `GET /v1/sandboxes/box/tunnel?port=80 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
        'Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n',
    );
    expect(tunnel).toMatch(/^HTTP\/1\.1 403 /);
    expect((await keyWith(['sandboxes:read'], key)).status).toBe(403);
    expect((await call(key, 'DocumentDb.CountDocuments')).status).toBe(403);
  });
});

describe('a key of an admin', () => {
  it('acts as a member’s without the scope admin', async () => {
    const key = await made(['account', 'sandboxes:read']);
    const act = async (action: string, parameters: object) =>
      http.fetch(`/v1/admin/${action}`, {
        method: 'POST',
        headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
        body: JSON.stringify(parameters),
      });
    const users = (await (await act('ListUsers', {})).json()) as { users: { user_id: string }[] };
    expect(users.users.map(({ user_id }) => user_id)).toEqual(['user_1']);
    expect((await act('CreateKey', { name: 'x', user: 'ben@example.org', scopes: ['account'] })).status).toBe(
      403,
    );
    expect((await act('DisableUser', { user: 'ben@example.org' })).status).toBe(403);
  });

  it('makes none that may do more than itself', async () => {
    const key = await made(['account', 'sandboxes:read']);
    for (const wanted of [['admin'], ['sandboxes:read', 'sandboxes:write']]) {
      const refused = await keyWith(wanted, key);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ code: 'permission_denied', parameter: 'scopes' });
    }
    const all = await http.fetch('/v1/admin/CreateKey', {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
      body: JSON.stringify({ name: 'all' }),
    });
    expect(all.status).toBe(403);
    expect((await keyWith(['sandboxes:read'], key)).status).toBe(200);
  });
});

describe('scopes', () => {
  it('are refused when unknown, empty or too many', async () => {
    for (const wrong of [[], ['sandboxes'], Array(6).fill('admin')]) {
      const refused = await keyWith(wrong);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ code: 'invalid_argument' });
    }
  });

  it('give a member no more than a member has', async () => {
    const key = await made(['admin'], MEMBER_KEY);
    const refused = await http.fetch('/v1/admin/CreateUser', {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
      body: JSON.stringify({ name: 'x', email: 'x@example.org' }),
    });
    expect(refused.status).toBe(403);
  });

  it('are given and shown on the command line', async () => {
    const cli = cliFor(http.url);
    const { code, stdout } = await cli([
      'keys',
      'create',
      'ci',
      '--scopes',
      'sandboxes:read',
      '--scopes',
      'account',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('sandboxes:read');
    expect((await cli(['keys'])).stdout).toMatch(/ci .*sandboxes:read,account/);
  });
});
