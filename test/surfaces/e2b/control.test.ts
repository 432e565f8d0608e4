/** Sandboxes by the control API of E2B's clients: every value here is one that they send or read. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyInForm, keyOfForm } from '../../../src/model/key-form.ts';
import { addE2bRoutes } from '../../../src/surfaces/e2b/routes.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Body = Record<string, unknown>;

let http: Harness;

beforeEach(async () => {
  http = await startHttp({ further: addE2bRoutes });
});

afterEach(() => http.close());

const keyOf = (key: string) => `e2b_${Buffer.from(key).toString('hex')}`;

async function call(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
  const response = await fetch(`${http.url}/e2b/api${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      'x-api-key': keyOf(API_KEY),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Body,
  };
}

async function created(body: Body = {}): Promise<Body> {
  const answer = await call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 300, ...body });
  expect(answer.status).toBe(201);
  return answer.body;
}

const ID = /^[0-9a-z]{16}$/;
const refused = (status: number, message: RegExp) => ({
  status,
  body: { code: status, message: expect.stringMatching(message) },
});

describe('a key', () => {
  it('comes in hexadecimal digits, or as it is', async () => {
    expect(keyInForm('shv_ab', 'e2b')).toBe('e2b_7368765f6162');
    expect(keyOfForm('e2b_7368765f6162')).toBe('shv_ab');
    for (const other of ['shv_ab', 'e2b_', 'e2b_736', 'e2b_7368765F6162', 'E2B_7368'])
      expect(keyOfForm(other)).toBe(other);
    expect((await call('GET', '/v2/sandboxes', undefined, { 'x-api-key': MEMBER_KEY })).status).toBe(200);
    expect(await call('GET', '/v2/sandboxes', undefined, { 'x-api-key': keyOf('shv_no') })).toMatchObject(
      refused(401, /key/),
    );
  });

  it('is made in their form', async () => {
    const made = await http.fetch('/v1/admin/CreateKey', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'laptop', form: 'e2b' }),
    });
    const { api_key: key } = (await made.json()) as { api_key: string };
    expect(key).toMatch(/^e2b_7368765f[0-9a-f]{86}$/);
    expect((await call('GET', '/v2/sandboxes', undefined, { 'x-api-key': key })).status).toBe(200);
  });
});

describe('a creation', () => {
  it('answers all that a client needs to work inside', async () => {
    const answer = await created({ metadata: { team: 'x' }, envVars: { A: 'b' } });
    expect(answer).toEqual({
      ...{
        templateID: 'base',
        sandboxID: expect.stringMatching(ID),
        clientID: 'sandhaven',
        envdVersion: '0.6.4',
      },
      ...{ envdAccessToken: expect.stringMatching(/^sbt_[0-9a-z]{16}_0_0_[a-z2-7]{26}$/), domain: null },
      trafficAccessToken: answer['envdAccessToken'],
    });
    const sandbox = http.sandboxes.get(`sb_${answer['sandboxID']}`);
    expect(sandbox).toMatchObject({
      labels: { team: 'x' },
      envVars: { A: 'b' },
      user: 'user',
      autoStopMinutes: 0,
    });
    const inMs = Number(sandbox?.deadline?.at) - Date.now();
    expect(inMs).toBeGreaterThan(290_000);
    expect(inMs).toBeLessThanOrEqual(300_000);
    expect(sandbox?.deadline?.action).toBe('delete');
  });

  it.each([
    [{ volumeMounts: [{ name: 'v', path: '/v' }] }, /volumeMounts/],
    [{ network: { denyOut: ['8.8.8.8'] } }, /network\.denyOut/],
    [{ network: { maskRequestHost: 'a.example' } }, /network\.maskRequestHost/],
    [{ network: { allowPublicTraffic: true } }, /allowPublicTraffic/],
  ])('refuses %j before there is anything', async (body, message) => {
    expect(await call('POST', '/sandboxes', body)).toMatchObject(refused(501, message));
    expect(http.sandboxes.size).toBe(0);
  });

  it('takes what asks for nothing', async () => {
    await created({
      autoPause: false,
      autoResume: { enabled: false },
      network: {},
      secure: true,
      volumeMounts: [],
    });
  });

  it.each([
    [{ allow_internet_access: false }, { mode: 'none', profiles: [], allow: [] }],
    [{ network: { denyOut: ['0.0.0.0/0'] } }, { mode: 'none', profiles: [], allow: [] }],
    [
      { network: { denyOut: ['0.0.0.0/0'], allowOut: ['1.1.1.1', '*.example.com'] } },
      {
        ...{ mode: 'rules', profiles: [] },
        allow: ['tcp://1.1.1.1', 'udp://1.1.1.1:1-65535', 'icmp://1.1.1.1', '*.example.com'],
      },
    ],
  ])('has the network of %j', async (body, network) => {
    const { sandboxID } = await created(body);
    expect(http.sandboxes.get(`sb_${sandboxID}`)?.network).toEqual(network);
  });

  it('is not made twice under one key', async () => {
    await call('POST', '/v2/sandboxes', { templateID: 'base' }, { 'idempotency-key': 'one' });
    expect(http.idempotencyKeys).toEqual(['one']);
  });

  it('opens its ports where the operator allows it, unless it is told not to', async () => {
    await http.close();
    http = await startHttp({ further: addE2bRoutes }, { mayBePublic: true });
    const open = async (body: Body) => {
      const { sandboxID } = await created(body);
      return http.services.publicPorts.isOpen(`sb_${sandboxID}`);
    };
    expect(await open({})).toBe(true);
    expect(await open({ network: { allowPublicTraffic: false } })).toBe(false);
  });
});

describe('one sandbox', () => {
  let id: string;
  beforeEach(async () => {
    id = String((await created({ metadata: { a: '1' } }))['sandboxID']);
  });

  it('is shown with its token, and deleted once', async () => {
    expect((await call('GET', `/sandboxes/${id}`)).body).toMatchObject({
      ...{ sandboxID: id, templateID: 'base', state: 'running', metadata: { a: '1' }, envdVersion: '0.6.4' },
      ...{ cpuCount: 2, memoryMB: 4_096, diskSizeMB: 20_480, lifecycle: { onTimeout: 'kill' } },
      envdAccessToken: expect.stringMatching(/^sbt_/),
    });
    // Older clients add an id of their own.
    expect((await call('GET', `/sandboxes/${id}-sandhaven`)).status).toBe(200);
    expect((await call('DELETE', `/sandboxes/${id}`)).status).toBe(204);
    expect(await call('DELETE', `/sandboxes/${id}`)).toMatchObject(refused(404, /no sandbox/));
    expect(await call('GET', `/sandboxes/${id}`)).toMatchObject(refused(404, /no sandbox/));
  });

  it('is of its owner alone', async () => {
    const others = { 'x-api-key': keyOf(MEMBER_KEY) };
    expect((await call('GET', '/v2/sandboxes', undefined, others)).body).toEqual([]);
  });

  it('gives no token to a key that may change nothing', async () => {
    const made = await http.fetch('/v1/admin/CreateKey', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'reader', scopes: ['sandboxes:read'], form: 'e2b' }),
    });
    const { api_key: key } = (await made.json()) as { api_key: string };
    const { status, body } = await call('GET', `/sandboxes/${id}`, undefined, { 'x-api-key': key });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('envdAccessToken');
    expect((await call('DELETE', `/sandboxes/${id}`, undefined, { 'x-api-key': key })).status).toBe(403);
  });

  it('ends when it is told, and by a connection or a refresh no earlier', async () => {
    const left = () =>
      Math.round((Number(http.sandboxes.get(`sb_${id}`)?.deadline?.at) - Date.now()) / 1_000);
    expect((await call('POST', `/sandboxes/${id}/timeout`, { timeout: 100 })).status).toBe(204);
    expect(left()).toBeCloseTo(100, -1);
    expect(await call('POST', `/v2/sandboxes/${id}/connect`, { timeout: 10 })).toMatchObject({
      status: 200,
      body: { sandboxID: id, envdAccessToken: expect.stringMatching(/^sbt_/) },
    });
    expect(left()).toBeCloseTo(100, -1);
    expect((await call('POST', `/sandboxes/${id}/refreshes`, { duration: 500 })).status).toBe(204);
    expect(left()).toBeCloseTo(500, -1);
    expect((await call('POST', `/sandboxes/${id}/timeout`, { timeout: 0 })).status).toBe(204);
    expect(http.sandboxes.size).toBe(0);
  });

  it('is paused with its memory, has no end then, and runs on by a connection', async () => {
    const paused = () => call('POST', `/sandboxes/${id}/pause`, {});
    expect((await paused()).status).toBe(204);
    expect(await paused()).toMatchObject(refused(409, /paused/));
    const listed = async (query: string) => (await call('GET', `/v2/sandboxes${query}`)).body;
    expect(await listed('?state=paused')).toMatchObject([
      { sandboxID: id, state: 'paused', endAt: '2099-12-31T23:59:59.000Z' },
    ]);
    expect(await listed('?state=running')).toEqual([]);
    expect(await listed('')).toMatchObject([{ sandboxID: id }]);
    expect((await call('GET', '/sandboxes')).body).toEqual([]);
    const connected = () => call('POST', `/sandboxes/${id}/connect`, { timeout: 60 });
    expect((await connected()).status).toBe(201);
    expect((await connected()).status).toBe(200);
    const sandbox = http.sandboxes.get(`sb_${id}`);
    expect(sandbox?.deadline).toMatchObject({ action: 'delete' });
    expect((await call('GET', `/sandboxes/${id}`)).body).toMatchObject({ state: 'running' });
  });

  it('is stopped by a pause without memory, and started by a connection', async () => {
    const pause = () => call('POST', `/sandboxes/${id}/pause`, { memory: false });
    expect((await pause()).status).toBe(204);
    expect(http.sandboxes.get(`sb_${id}`)).toMatchObject({ state: 'stopped', deadline: null });
    expect(await pause()).toMatchObject(refused(409, /paused/));
    expect((await call('GET', `/sandboxes/${id}`)).body).toMatchObject({ state: 'paused' });
    expect((await call('GET', '/v2/sandboxes?state=paused')).body).toMatchObject([{ sandboxID: id }]);
    expect((await call('GET', '/sandboxes')).body).toEqual([]);
    expect((await call('POST', `/sandboxes/${id}/timeout`, { timeout: 5 })).status).toBe(404);
    expect((await call('POST', `/sandboxes/${id}/connect`, { timeout: 60 })).status).toBe(201);
    expect(http.sandboxes.get(`sb_${id}`)).toMatchObject({
      state: 'started',
      deadline: { action: 'delete' },
    });
  });

  it('is stopped at its end where it was made so', async () => {
    const { sandboxID } = await created({ autoPause: true, autoPauseMemory: false });
    expect(http.sandboxes.get(`sb_${sandboxID}`)?.deadline?.action).toBe('stop');
    const { body } = await call('GET', `/sandboxes/${sandboxID}`);
    expect(body).toMatchObject({ metadata: {}, lifecycle: { onTimeout: 'pause', autoResume: false } });
  });

  it('has its usage now, in times that are not over', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const of = async (query: string) => (await call('GET', `/sandboxes/${id}/metrics${query}`)).body;
    expect(await of('')).toHaveLength(1);
    expect(await of(`?start=${seconds - 60}&end=${seconds}`)).toHaveLength(1);
    expect(await of(`?start=${seconds - 60}&end=${seconds - 30}`)).toEqual([]);
    expect(await of(`?start=${seconds + 60}`)).toEqual([]);
  });

  it('gets another network in place of all it had', async () => {
    const put = (body: Body) => call('PUT', `/sandboxes/${id}/network`, body);
    const mode = () => http.sandboxes.get(`sb_${id}`)?.network?.mode;
    expect((await put({ denyOut: ['0.0.0.0/0'] })).status).toBe(204);
    expect(mode()).toBe('none');
    expect((await put({})).status).toBe(204);
    expect(mode()).toBe('open');
    expect(await put({ denyOut: [1] })).toMatchObject(refused(400, /network\.denyOut/));
  });

  it('is paused at its end where it was made so, each time', async () => {
    const { sandboxID } = await created({
      autoPause: true,
      autoResume: { enabled: true },
      metadata: { b: '2' },
    });
    const path = `/sandboxes/${sandboxID}`;
    const action = () => http.sandboxes.get(`sb_${sandboxID}`)?.deadline?.action;
    expect(action()).toBe('sleep');
    expect((await call('GET', path)).body).toMatchObject({
      ...{ metadata: { b: '2' }, lifecycle: { onTimeout: 'pause', autoResume: true } },
    });
    await call('POST', `${path}/pause`, {});
    expect(action()).toBeUndefined();
    await call('POST', `${path}/connect`, { timeout: 60 });
    expect(action()).toBe('sleep');
    await call('POST', `${path}/timeout`, { timeout: 0 });
    expect((await call('GET', path)).body).toMatchObject({ state: 'paused' });
  });

  it.each([['GET', 'logs']])('is refused with a sentence: %s %s', async (method, path) => {
    const answer = await call(method, `/sandboxes/${id}/${path}`, method === 'GET' ? undefined : {});
    expect(answer).toMatchObject(refused(501, /\. See docs\/migrate-from-e2b\.md\.$/));
  });
});

describe('a list', () => {
  it('has pages, newest first, by metadata that is encoded twice', async () => {
    const ids: unknown[] = [];
    for (const name of ['a&b', 'c', 'a&b']) ids.unshift((await created({ metadata: { name } }))['sandboxID']);
    [...http.sandboxes.values()].forEach((sandbox, at) => {
      sandbox.createdAt = at + 1;
    });
    const of = (body: Body) => (body as unknown as Body[]).map(({ sandboxID }) => sandboxID);
    const first = await call('GET', '/v2/sandboxes?limit=2');
    expect(of(first.body)).toEqual(ids.slice(0, 2));
    const next = first.headers.get('x-next-token');
    const second = await call('GET', `/v2/sandboxes?limit=2&nextToken=${next}`);
    expect(of(second.body)).toEqual(ids.slice(2));
    expect(second.headers.get('x-next-token')).toBeNull();
    const metadata = encodeURIComponent(new URLSearchParams({ name: encodeURIComponent('a&b') }).toString());
    const list = vi.spyOn(http.services.sandboxes, 'list');
    await call('GET', `/v2/sandboxes?metadata=${metadata}`);
    expect(list.mock.lastCall?.[1]).toEqual({ labels: { name: 'a&b' } });
    expect(of((await call('GET', '/v2/sandboxes?state=paused')).body)).toEqual([]);
    expect(of((await call('GET', '/sandboxes')).body)).toEqual(ids);
    expect(of((await call('GET', '/v2/sandboxes?startedAfter=1970-01-01T00:00:00.002Z')).body)).toEqual(
      ids.slice(0, 2),
    );
    const oldest = await call('GET', '/v2/sandboxes?order=asc&limit=2');
    expect(of(oldest.body)).toEqual(ids.toReversed().slice(0, 2));
    const rest = `/v2/sandboxes?order=asc&limit=2&nextToken=${oldest.headers.get('x-next-token')}`;
    expect(of((await call('GET', rest)).body)).toEqual(ids.slice(0, 1));
    expect(await call('GET', '/v2/sandboxes?limit=0')).toMatchObject(refused(400, /limit/));
    expect(await call('GET', '/v2/sandboxes?nextToken=x')).toMatchObject(refused(400, /nextToken/));
  });
});
