/** Every call leaves one row, on whatever surface it came, with how it ended and nothing of what it said. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { actions } from '../../src/administration/index.ts';
import { callTool } from '../../src/catalog/call.ts';
import { tools } from '../../src/catalog/index.ts';
import type { AuditRow } from '../../src/model/audit.ts';
import { everyTool } from '../catalog/every-tool.ts';
import { API_KEY, createFakeServices, MEMBER_KEY, user } from '../surfaces/fakes/fake-services.ts';
import { type Harness, startHttp } from '../surfaces/http/http-harness.ts';

const nameOf = (tool: string) => (tool.includes('.') ? tool : `Sandbox.${tool}`);

async function rowsOf({ services }: Pick<Harness, 'services'>): Promise<AuditRow[]> {
  return (await services.audit.list({ filter: {}, after: 0, limit: 1_000 }, 0)).rows;
}

describe('a tool', () => {
  const fake = () => {
    const made = createFakeServices();
    made.files.set('a.txt', { content: Buffer.from('one'), mode: 0o644 });
    return made;
  };
  const contextOf = ({ services }: Pick<Harness, 'services'>) => ({
    ...{ caller: user, services, requestId: 'req_1', origin: { transport: 'mcp', address: '::1' } as const },
    ...{ signal: new AbortController().signal, progress: () => {} },
  });

  it('leaves one row when it is carried out, each of the catalogue', async () => {
    const made = fake();
    for (const [name, parameters] of everyTool) await callTool(nameOf(name), parameters, contextOf(made));
    const rows = await rowsOf(made);
    expect(rows.map(({ action }) => action)).toEqual(everyTool.map(([name]) => nameOf(name)));
    expect(new Set(rows.map(({ action }) => action))).toEqual(new Set(tools.map(({ name }) => name)));
    const same = {
      outcome: 'ok',
      transport: 'mcp',
      clientAddress: '::1',
      userId: user.id,
      keyId: user.keyId,
    };
    for (const row of rows) expect(row).toMatchObject(same);
  });

  it.each(tools.map(({ name }) => name))('%s leaves one row when it is refused', async (name) => {
    const made = fake();
    const wrong = callTool(name, { no_such_parameter: 1 }, contextOf(made));
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await rowsOf(made)).toMatchObject([{ action: name, outcome: 'invalid_argument' }]);
  });

  it('leaves no row when it does not exist: its name is the caller’s own words', async () => {
    const made = fake();
    await expect(callTool('secret words', {}, contextOf(made))).rejects.toMatchObject({ code: 'not_found' });
    expect(await rowsOf(made)).toEqual([]);
  });
});

describe('over HTTP', () => {
  let http: Harness;
  const canary = 'canary-7f3a91c2e5';

  beforeEach(async () => {
    http = await startHttp();
    http.files.set('ten', { content: Buffer.from('0123456789'), mode: 0o644 });
  });
  afterEach(() => http.close());

  const act = (name: string, parameters: object, key = API_KEY) =>
    fetch(`${http.url}/v1/admin/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    });

  it('a call has the address, the request’s id and the key', async () => {
    const response = await http.call('Sandbox.WhoAmI', {});
    expect(await rowsOf(http)).toMatchObject([
      {
        ...{ action: 'Sandbox.WhoAmI', outcome: 'ok', transport: 'http', clientAddress: '127.0.0.1' },
        ...{ userId: user.id, keyId: user.keyId, requestId: response.headers.get('x-request-id') },
      },
    ]);
  });

  it('an event stream is one call too', async () => {
    const headers = { accept: 'text/event-stream' };
    await (await http.call('Sandbox.CreateSandbox', { image: 'x' }, headers)).text();
    expect(await rowsOf(http)).toMatchObject([{ action: 'Sandbox.CreateSandbox', outcome: 'ok' }]);
  });

  it('a call whose client left is cancelled', async () => {
    const leaving = new AbortController();
    const call = http.fetch('/v1/tools/Sandbox.RunCommand', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'sleep 30' }),
      signal: leaving.signal,
    });
    setTimeout(() => leaving.abort(), 100);
    await expect(call).rejects.toThrow();
    await expect.poll(() => rowsOf(http)).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it.each(actions.map(({ name }) => name))(
    'the action %s leaves one row when it is refused',
    async (name) => {
      await act(name, { no_such_parameter: 1 });
      expect(await rowsOf(http)).toMatchObject([
        { action: name, outcome: 'invalid_argument', userId: user.id, transport: 'http' },
      ]);
    },
  );

  it('an action that a member may not do leaves one row', async () => {
    await act('CreateUser', {}, MEMBER_KEY);
    expect(await rowsOf(http)).toMatchObject([{ action: 'CreateUser', outcome: 'permission_denied' }]);
  });

  it.each([
    ['PUT', 'new', {}, 'files.upload', 'ok'],
    ['PUT', '/', {}, 'files.upload', 'invalid_argument'],
    ['GET', 'ten', {}, 'files.download', 'ok'],
    ['GET', 'ten', { range: 'bytes=2-3' }, 'files.download', 'ok'],
    ['GET', 'ten', { range: 'bytes=99-' }, 'files.download', 'invalid_argument'],
    ['GET', 'none', {}, 'files.download', 'not_found'],
    ['HEAD', 'ten', {}, 'files.head', 'ok'],
  ])('%s of the file %s with %j leaves one row', async (method, path, headers, action, outcome) => {
    const body = method === 'PUT' ? { body: 'content' } : {};
    const url = `/v1/sandboxes/box/files?${new URLSearchParams({ path })}`;
    await (await http.fetch(url, { method, headers, ...body })).arrayBuffer();
    await expect
      .poll(() => rowsOf(http))
      .toMatchObject([{ action, outcome, requestId: expect.stringMatching(/^req_/) }]);
  });

  it('a download whose client left is cancelled', async () => {
    const leaving = new AbortController();
    const url = '/v1/sandboxes/box/files?path=endless';
    const response = await http.fetch(url, { signal: leaving.signal });
    expect(response.status).toBe(200);
    leaving.abort();
    await expect.poll(() => rowsOf(http)).toMatchObject([{ action: 'files.download', outcome: 'cancelled' }]);
  });

  it.each([
    ['authorized', 'ok'],
    ['denied', 'permission_denied'],
  ])(
    'an authorization in a browser that ends %s leaves one row, for the user who began it',
    async (status, outcome) => {
      const { services } = createFakeServices();
      const done = { user: { id: 'user_9' }, outcome: { status, reason: 'no', account: { login: 'ada' } } };
      const host = { name: 'github', url: 'https://example.org' };
      Object.assign(services, {
        authorizations: { host, whoAsks: () => done.user, complete: async () => done },
      });
      const own = await startHttp({ services });
      await fetch(`${own.url}/auth/github/callback`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `state=${canary}&code=${canary}`,
      });
      const rows = await rowsOf({ services });
      await own.close();
      expect(rows).toMatchObject([{ action: 'provider.authorize', outcome, userId: 'user_9', keyId: null }]);
      expect(JSON.stringify(rows)).not.toContain(canary);
    },
  );

  it('a request without a key, or for facts of the service itself, leaves no row', async () => {
    await fetch(`${http.url}/v1/tools/Sandbox.WhoAmI`, { method: 'POST' });
    for (const path of ['/v1/tools', '/v1/admin', '/openapi.json', '/healthz']) await http.fetch(path);
    expect(await rowsOf(http)).toEqual([]);
  });

  it('no row has anything of what a caller said', async () => {
    await http.call('Sandbox.RunCommand', { command: canary, env: { A: canary }, cwd: canary });
    await http.call('Sandbox.GetSandbox', { sandbox: canary });
    await http.call('Sandbox.WriteFile', { path: canary, content: canary });
    await http.call('Sandbox.GitClone', {
      url: `https://example.org/${canary}`,
      username: canary,
      password: canary,
    });
    await http.call(`Sandbox.${canary}`, { [canary]: canary }, { 'idempotency-key': canary });
    await http.call('Sandbox.CreateSandbox', { name: canary, env_vars: { TOKEN: canary } });
    await http.fetch(`/v1/sandboxes/${canary}/files?path=${canary}`, { method: 'PUT', body: canary });
    await http.fetch(`/v1/sandboxes/${canary}/files?path=${canary}`, { headers: { 'user-agent': canary } });
    await act('CreateUser', { name: canary, email: `${canary}@example.org` });
    await act('ListAudit', { sandbox: canary, action: canary });
    const rows = await rowsOf(http);
    expect(rows).toHaveLength(9);
    const text = JSON.stringify(rows);
    expect(text).not.toContain(canary);
    expect(text).not.toContain(API_KEY.replace('shv_', ''));
  });
});
