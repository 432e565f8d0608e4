/** Networks, previews, SSH, snapshots and secrets by the control API of Daytona's clients. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Body = Record<string, unknown>;

let http: Harness;
let id: string;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  id = String((await call('POST', '/sandbox', { name: 'one' })).body['id']);
});

afterEach(() => http.close());

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> {
  const response = await http.fetch(`/daytona/api${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

const settings = (body: Body) => call('POST', '/sandbox/one/network-settings', body);
const networkOf = () => http.sandboxes.get(id)?.network;

describe('networks', () => {
  it('are blocked, or allow ranges by all protocols and domains', async () => {
    const blocked = await call('POST', '/sandbox', { networkBlockAll: true, networkAllowList: '1.1.1.0/24' });
    expect(blocked.body).toMatchObject({ networkBlockAll: true });
    const lists = {
      networkAllowList: '1.1.1.0/24, 8.8.8.8/32',
      domainAllowList: 'example.com,*.example.org',
    };
    const { body } = await call('POST', '/sandbox', { name: 'lists', networkBlockAll: false, ...lists });
    expect(body).toMatchObject({
      ...{ networkBlockAll: false, networkAllowList: '1.1.1.0/24,8.8.8.8/32' },
      domainAllowList: 'example.com,*.example.org',
    });
    expect(http.sandboxes.get(String(body['id']))?.network).toEqual({
      mode: 'rules',
      profiles: [],
      allow: [
        ...['tcp://1.1.1.0/24', 'udp://1.1.1.0/24:1-65535', 'icmp://1.1.1.0/24'],
        ...['tcp://8.8.8.8', 'udp://8.8.8.8:1-65535', 'icmp://8.8.8.8'],
        ...['example.com', '*.example.org'],
      ],
    });
  });

  it('keep what a change leaves out, and open when a block is taken back', async () => {
    expect((await settings({ domainAllowList: 'example.com' })).body).toMatchObject({
      ...{ networkBlockAll: false, domainAllowList: 'example.com' },
    });
    expect((await settings({ networkAllowList: '1.1.1.1/32' })).body).toMatchObject({
      ...{ networkAllowList: '1.1.1.1/32', domainAllowList: 'example.com' },
    });
    const withoutDomains = (await settings({ domainAllowList: '' })).body;
    expect(withoutDomains).toMatchObject({ networkAllowList: '1.1.1.1/32' });
    expect(withoutDomains).not.toHaveProperty('domainAllowList');
    expect((await settings({ networkBlockAll: true })).body).toMatchObject({ networkBlockAll: true });
    expect((await settings({ networkAllowList: '' })).body).toMatchObject({ networkBlockAll: true });
    expect((await settings({ networkBlockAll: false })).body).toMatchObject({ networkBlockAll: false });
    expect(networkOf()).toEqual({ mode: 'open', profiles: [], allow: [] });
  });

  it('keep profiles and rules that their lists have no form for', async () => {
    const network = {
      mode: 'rules' as const,
      profiles: ['git'],
      allow: ['http://example.com/a', 'tcp://1.1.1.1'],
    };
    Object.assign(http.sandboxes.get(id) ?? {}, { network });
    expect((await call('GET', '/sandbox/one')).body).toMatchObject({
      domainAllowList: 'http://example.com/a,tcp://1.1.1.1',
    });
    await settings({ networkAllowList: '8.8.8.8/32' });
    expect(networkOf()).toEqual({
      ...network,
      allow: [
        ...['tcp://8.8.8.8', 'udp://8.8.8.8:1-65535', 'icmp://8.8.8.8'],
        ...['http://example.com/a', 'tcp://1.1.1.1'],
      ],
    });
  });

  it.each([
    [{ networkAllowList: '10.0.0.0/8' }],
    [{ networkAllowList: 'everything' }],
    [{ networkAllowList: ['1.1.1.1/32'] }],
    [{ networkBlockAll: 'yes' }],
    [{ domainAllowList: '*.com' }],
  ])('reject %j', async (body) => {
    expect(await settings(body)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    expect(networkOf()).toEqual({ mode: 'open', profiles: [], allow: [] });
  });
});

describe('previews', () => {
  it('have a token for a header, and no slash behind the name', async () => {
    expect((await call('GET', '/sandbox/one/ports/3000/preview-url')).body).toEqual({
      ...{ sandboxId: id, url: `http://3000-${id}.localhost:1`, token: 'key' },
    });
    expect((await call('GET', '/sandbox/one/ports/0/preview-url')).status).toBe(400);
  });

  it('are signed for a time, with the token out of the URL', async () => {
    const path = '/sandbox/one/ports/3000/signed-preview-url';
    const signed = { sandboxId: id, port: 3_000, url: 'http://3000-key.localhost:1', token: 'key' };
    expect((await call('GET', path)).body).toEqual(signed);
    expect((await call('GET', `${path}?expiresInSeconds=90`)).body).toEqual(signed);
    expect((await call('GET', `${path}?expiresInSeconds=0`)).status).toBe(400);
    expect((await call('POST', `${path}/key/expire`)).status).toBe(200);
    expect((await call('POST', `${path}/other/expire`)).status).toBe(404);
  });
});

describe('SSH', () => {
  it('has a token with an end, which may never come', async () => {
    const path = '/sandbox/one/ssh-access';
    expect((await call('POST', `${path}?expiresInMinutes=10`)).body).toEqual({
      ...{ id: expect.any(String), sandboxId: id, token: 'token', sshCommand: 'ssh -p 22 token@127.0.0.1' },
      ...{ createdAt: expect.stringMatching(/Z$/), updatedAt: expect.stringMatching(/Z$/) },
      expiresAt: '1970-01-01T00:10:00.000Z',
    });
    expect((await call('POST', path)).body).toMatchObject({ expiresAt: '1970-01-01T01:00:00.000Z' });
    expect((await call('POST', `${path}?expiresInMinutes=0`)).body).toMatchObject({
      expiresAt: '9999-12-31T23:59:59.000Z',
    });
  });

  it('is revoked whole, or one token of it', async () => {
    const revoked = await call('DELETE', '/sandbox/one/ssh-access?token=token');
    expect(revoked).toMatchObject({ status: 200, body: { id } });
    expect((await call('DELETE', '/sandbox/one/ssh-access?token=other')).status).toBe(404);
    expect(await call('DELETE', '/sandbox/one/ssh-access')).toMatchObject({ status: 200, body: { id } });
  });
});

describe('a token of SSH', () => {
  it('is valid while it gives access', async () => {
    const validity = async (token: string) =>
      (await call('GET', `/sandbox/ssh-access/validate?token=${token}`)).body;
    expect(await validity('token')).toEqual({ valid: true, sandboxId: id });
    expect(await validity('key')).toEqual({ valid: false, sandboxId: '' });
    expect(await validity('other')).toEqual({ valid: false, sandboxId: '' });
  });

  it('is not repeated by an error', async () => {
    const token = 'secret'.repeat(20);
    const refused = await call('GET', `/sandbox/ssh-access/validate?token=${token}`);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toContain('secret');
  });
});

describe('snapshots', () => {
  it('are made of an image, shown, listed and deleted', async () => {
    const asked = {
      name: 'snap',
      imageName: 'debian:13',
      cpu: 1,
      memory: 2,
      regionId: 'us',
      entrypoint: ['ls'],
    };
    const made = {
      ...{ id: expect.stringMatching(/^snap_/), organizationId: 'user_1', general: false, name: 'snap' },
      ...{ state: 'pending', imageName: 'debian:13', size: null, entrypoint: ['ls'] },
      ...{ cpu: 1, gpu: 0, mem: 2, disk: 20, errorReason: null, lastUsedAt: null, sourceSandboxId: null },
      ...{ createdAt: '1970-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:00.000Z' },
      ...{ regionIds: ['local'], sandboxClass: 'container' },
    };
    expect(await call('POST', '/snapshots', asked)).toEqual({ status: 200, body: made });
    expect((await call('GET', '/snapshots/snap')).body).toEqual(made);
    expect((await call('POST', '/snapshots/snap/activate')).body).toEqual(made);
    expect((await call('GET', '/snapshots?page=1&limit=10')).body).toEqual({
      ...{ items: [made], total: 1, page: 1, totalPages: 1 },
    });
    expect((await call('DELETE', '/snapshots/snap')).status).toBe(200);
    expect((await call('GET', '/snapshots/snap')).status).toBe(404);
  });

  it('are taken of a sandbox, and listed by it, also when it is gone', async () => {
    await call('POST', '/snapshots', { name: 'other', imageName: 'debian:13' });
    for (const name of ['first', 'second', 'third']) {
      expect(await call('POST', '/sandbox/one/snapshot', { name, includeMemory: false })).toMatchObject({
        status: 200,
        body: { id, name: 'one', state: 'started' },
      });
    }
    expect((await call('GET', '/snapshots/first')).body).toMatchObject({
      ...{ state: 'active', sourceSandboxId: id, errorReason: null },
    });
    await call('DELETE', '/sandbox/one');
    const of = async (query: string) => (await call('GET', `/snapshots?sourceSandboxId=${query}`)).body;
    expect(await of(`${id}&limit=2`)).toMatchObject({
      items: [{ name: 'third' }, { name: 'second' }],
      ...{ total: 3, page: 1, totalPages: 2 },
    });
    expect(await of(`${id}&limit=2&page=2`)).toMatchObject({ items: [{ name: 'first' }], page: 2 });
    expect(await of('sb_none')).toEqual({ items: [], total: 0, page: 1, totalPages: 0 });
    expect((await call('GET', `/snapshots?sourceSandboxId=${id}&page=0`)).status).toBe(400);
  });

  it.each([
    ['one', { name: 's', includeMemory: true }, 400, /includeMemory/],
    ['one', { name: 'a/b' }, 400, /name/],
    ['none', { name: 's' }, 404, /no sandbox/],
  ])('of %s by %j are refused before there is anything', async (sandbox, body, status, message) => {
    expect(await call('POST', `/sandbox/${sandbox}/snapshot`, body)).toMatchObject({
      status,
      body: { message: expect.stringMatching(message) },
    });
    expect((await call('GET', '/snapshots')).body).toMatchObject({ total: 0 });
  });

  it.each([
    ['POST', '/snapshots', { name: 's', imageName: 'a', sandboxClass: 'linux-vm' }],
    ['GET', '/snapshots?name=a', undefined],
    ['GET', '/snapshots?order=asc', undefined],
  ])('refuse %s %s %j', async (method, path, body) => {
    expect((await call(method, path, body)).status).toBe(501);
  });
});

describe('secrets', () => {
  const asked = {
    name: 'OPENAI_API_KEY',
    value: 'sk-0123456789',
    hosts: ['api.openai.com', '*.example.org'],
  };

  it('have hosts, and never show their value', async () => {
    const made = {
      ...{ id: expect.stringMatching(/^se_/), name: 'OPENAI_API_KEY', placeholder: '$OPENAI_API_KEY' },
      hosts: ['api.openai.com', '*.example.org'],
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    };
    expect(await call('POST', '/secret', asked)).toEqual({ status: 201, body: made });
    expect((await call('GET', '/secret')).body).toEqual([made]);
    expect((await call('GET', '/secret/paginated?name=OPEN')).body).toEqual({
      ...{ items: [made], total: 1, nextCursor: null },
    });
    expect((await call('GET', '/secret/paginated?name=other')).body).toMatchObject({ items: [], total: 0 });
    expect((await call('GET', '/secret/OPENAI_API_KEY')).body).toEqual(made);
    expect(await call('DELETE', '/secret/OPENAI_API_KEY')).toEqual({ status: 204, body: {} });
    expect((await call('GET', '/secret/OPENAI_API_KEY')).status).toBe(404);
  });

  it('are refused without hosts, and with a description', async () => {
    expect((await call('POST', '/secret', { ...asked, hosts: [] })).status).toBe(501);
    expect((await call('POST', '/secret', { ...asked, description: 'mine' })).status).toBe(501);
  });

  it('are given to a sandbox under their own variable alone, and replaced', async () => {
    await call('POST', '/secret', asked);
    const secretIds = () => http.sandboxes.get(id)?.secretIds.length;
    const give = (secrets: unknown) => call('PUT', '/sandbox/one/secrets', { secrets });
    expect(await give([{ OPENAI_API_KEY: 'OPENAI_API_KEY' }])).toMatchObject({ status: 200, body: { id } });
    expect(secretIds()).toBe(1);
    expect((await give([{ OTHER: 'OPENAI_API_KEY' }])).status).toBe(501);
    expect((await give([{ OTHER: 'missing' }])).status).toBe(404);
    expect((await give('all')).status).toBe(400);
    expect((await give([])).status).toBe(200);
    expect(secretIds()).toBe(0);
    const secrets = [{ OPENAI_API_KEY: 'OPENAI_API_KEY' }];
    const { body } = await call('POST', '/sandbox', { name: 'two', secrets });
    expect(http.sandboxes.get(String(body['id']))?.secretIds).toHaveLength(1);
  });
});
