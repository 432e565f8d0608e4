/** Sandboxes by the control API of Daytona's clients: every value here is one that they send or read. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Body = Record<string, unknown>;

let http: Harness;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
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

async function created(body: Body = {}): Promise<Body> {
  const answer = await call('POST', '/sandbox', body);
  expect(answer.status).toBe(200);
  return answer.body;
}

const notHere = (message: RegExp) => ({
  status: 501,
  body: { statusCode: 501, code: 'NOT_IMPLEMENTED', message: expect.stringMatching(message) },
});

describe('a creation', () => {
  it('answers a started sandbox with every field that some generation needs', async () => {
    const answer = await created({ name: 'one', env: { A: 'b', API_KEY: 'k' }, labels: { team: 'x' } });
    expect(answer).toEqual({
      ...{ id: expect.stringMatching(/^sb_/), name: 'one', organizationId: 'user_1', user: 'daytona' },
      ...{ env: { A: 'b', API_KEY: 'k' }, labels: { team: 'x' }, target: 'local' },
      ...{ cpu: 2, memory: 4, disk: 20, gpu: 0, kvm: false, public: false, volumes: [] },
      ...{ state: 'started', desiredState: 'started', recoverable: false, networkBlockAll: false },
      ...{ autoStopInterval: 15, autoArchiveInterval: 10_080, autoDeleteInterval: -1 },
      ...{ backupState: 'None', sandboxClass: 'container' },
      toolboxProxyUrl: `${http.url}/daytona/toolbox`,
      createdAt: '2026-01-02T03:04:05.000Z',
      updatedAt: '2026-01-02T03:04:05.000Z',
      lastActivityAt: '2026-01-02T03:04:05.000Z',
    });
  });

  it('takes sizes, a user, a language by its label, and times', async () => {
    const answer = await created({
      ...{ cpu: 4, memory: 8, disk: 30, user: 'root', labels: { 'code-toolbox-language': 'javascript' } },
      ...{ autoStopInterval: 0, autoArchiveInterval: 60, autoDeleteInterval: 0 },
    });
    expect(answer).toMatchObject({
      ...{ cpu: 4, memory: 8, disk: 30, user: 'root', labels: { 'code-toolbox-language': 'javascript' } },
      ...{ autoStopInterval: 0, autoArchiveInterval: 60, autoDeleteInterval: 0 },
    });
    const [sandbox] = http.sandboxes.values();
    expect(sandbox).toMatchObject({ language: 'javascript', envVars: {}, ephemeral: false });
  });

  it('takes what asks for nothing, and what there is only one of', async () => {
    const nothing = { public: false, volumes: [], ttlMinutes: 0, autoPauseInterval: 0, kvm: null, later: '' };
    const one = { target: 'us', spot: true, gpuType: ['H100'], otelEndpointOverride: 'http://x' };
    expect(await created({ ...nothing, ...one, autoDeleteInterval: -7, user: '' })).toMatchObject({
      ...{ target: 'local', user: 'daytona', autoDeleteInterval: -1 },
    });
  });

  it('takes a Dockerfile of one line as the name of an image, and builds nothing', async () => {
    await created({ buildInfo: { dockerfileContent: 'FROM debian:13\n', contextHashes: [] } });
    const [sandbox] = http.sandboxes.values();
    expect(sandbox?.image).toBe('debian:13');
    expect(await call('POST', '/sandbox', { buildInfo: {} })).toMatchObject({ status: 400 });
    expect(http.sandboxes.size).toBe(1);
  });

  it.each([
    ['public', true],
    ['volumes', [{ volumeId: 'v', mountPath: '/v' }]],
    ['autoPauseInterval', 5],
    ['linkedSandbox', 'other'],
    ['outboundProxyUrl', 'http://proxy'],
    ['kvm', true],
    ['later', 'than this surface'],
  ])('refuses %s before there is anything', async (field, value) => {
    const answer = await call('POST', '/sandbox', { [field]: value });
    expect(answer).toMatchObject(notHere(new RegExp(field)));
    expect(http.sandboxes.size).toBe(0);
  });

  it('leaves no sandbox whose times could not be set', async () => {
    const answer = await call('POST', '/sandbox', { autoArchiveInterval: 43_201 });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    expect(http.sandboxes.size).toBe(0);
  });
});

describe('a sandbox', () => {
  it('is shown by its id and by its name; a missing one is 404', async () => {
    const { id } = await created({ name: 'one' });
    expect((await call('GET', '/sandbox/one')).body).toMatchObject({ id, env: {} });
    expect((await call('GET', `/sandbox/${id}`)).body).toMatchObject({ name: 'one' });
    expect(await call('GET', '/sandbox/two')).toMatchObject({
      status: 404,
      body: { statusCode: 404, code: 'NOT_FOUND', source: 'DAYTONA_API', error: 'Not Found', method: 'GET' },
    });
  });

  it('stops, is archived, starts and recovers, each time with the whole answer', async () => {
    await created({ name: 'one', env: { A: 'b' } });
    const states = [];
    for (const step of ['stop?force=true', 'archive', 'start', 'start', 'recover']) {
      const { status, body } = await call('POST', `/sandbox/one/${step}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ name: 'one', env: { A: 'b' }, networkBlockAll: false });
      states.push(body['state']);
    }
    expect(states).toEqual(['stopped', 'archived', 'started', 'started', 'started']);
    expect(await call('POST', '/sandbox/one/archive')).toMatchObject({
      ...{ status: 409, body: { code: 'INVALID_STATE' } },
    });
    expect(await call('POST', '/sandbox/one/recover?skipStart=true')).toMatchObject(notHere(/starts/));
  });

  it('is destroyed at its deletion, and at the stop of an ephemeral one', async () => {
    const { id } = await created({ name: 'one' });
    const destroyed = { id, state: 'destroyed', desiredState: 'destroyed', env: {} };
    expect(await call('DELETE', '/sandbox/one')).toMatchObject({ status: 200, body: destroyed });
    expect((await call('DELETE', '/sandbox/one')).status).toBe(404);
    await created({ name: 'two' });
    for (const sandbox of http.sandboxes.values()) sandbox.ephemeral = true;
    expect((await call('GET', '/sandbox/two')).body).toMatchObject({ autoDeleteInterval: 0 });
    expect((await call('POST', '/sandbox/two/stop')).body).toMatchObject({ state: 'destroyed' });
  });

  it.each([
    ['starting', 'starting', 'started'],
    ['restoring', 'restoring', 'started'],
    ['stopping', 'stopping', 'stopped'],
    ['archiving', 'archiving', 'archived'],
    ['resizing', 'resizing', 'resized'],
    ['deleting', 'destroying', 'destroyed'],
  ] as const)('that is %s is %s', async (operation, state, desiredState) => {
    await created({ name: 'one' });
    for (const sandbox of http.sandboxes.values()) sandbox.operation = operation;
    expect((await call('GET', '/sandbox/one')).body).toMatchObject({ state, desiredState });
  });

  it('in error has its reason, and can be recovered', async () => {
    await created({ name: 'one' });
    for (const sandbox of http.sandboxes.values()) {
      Object.assign(sandbox, { state: 'error', stateReason: 'The disk is gone.' });
    }
    const { body } = await call('GET', '/sandbox/one');
    expect(body).toMatchObject({ state: 'error', errorReason: 'The disk is gone.', recoverable: true });
    expect(body).not.toHaveProperty('desiredState');
  });

  it('changes its size, labels and times', async () => {
    await created({ name: 'one' });
    expect((await call('POST', '/sandbox/one/resize', { cpu: 4, memory: 8, disk: 30 })).body).toMatchObject({
      ...{ cpu: 4, memory: 8, disk: 30 },
    });
    expect((await call('PUT', '/sandbox/one/labels', { labels: { a: 'b' } })).body).toEqual({
      labels: { a: 'b' },
    });
    expect((await call('POST', '/sandbox/one/autostop/0')).body).toMatchObject({ autoStopInterval: 0 });
    expect((await call('POST', '/sandbox/one/autoarchive/9')).body).toMatchObject({ autoArchiveInterval: 9 });
    expect((await call('POST', '/sandbox/one/autodelete/-3')).body).toMatchObject({ autoDeleteInterval: -1 });
    expect((await call('POST', '/sandbox/one/autostop/soon')).status).toBe(400);
    expect(await call('POST', '/sandbox/one/last-activity')).toEqual({ status: 201, body: {} });
  });
});

describe('a fork', () => {
  it('is another sandbox with the settings of the first, under the name that is asked for', async () => {
    const { id } = await created({ name: 'one', labels: { team: 'x' }, env: { A: 'b' } });
    const { status, body } = await call('POST', '/sandbox/one/fork', { name: 'two' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ id: expect.stringMatching(/^sb_/), name: 'two', state: 'started', user: 'daytona' },
      ...{ labels: { team: 'x' }, env: { A: 'b' }, toolboxProxyUrl: `${http.url}/daytona/toolbox` },
    });
    expect(body['id']).not.toBe(id);
    // Some clients send an empty name for none.
    expect((await call('POST', '/sandbox/one/fork', { name: '' })).status).toBe(200);
    expect(http.sandboxes.size).toBe(3);
  });

  it.each([
    ['one', { name: 'a/b' }, 400],
    ['none', {}, 404],
  ])('of %s with %j is refused before there is anything', async (sandbox, body, status) => {
    await created({ name: 'one' });
    expect((await call('POST', `/sandbox/${sandbox}/fork`, body)).status).toBe(status);
    expect(http.sandboxes.size).toBe(1);
  });
});

describe('an end by the clock', () => {
  const minutesUntil = (time: unknown) => (Date.parse(String(time)) - Date.now()) / 60_000;

  it('is set, moved from now on, and removed by 0; then the sandbox is deleted', async () => {
    await created({ name: 'one' });
    const { body } = await call('POST', '/sandbox/one/ttl/5');
    expect(minutesUntil(body['autoDestroyAt'])).toBeCloseTo(5, 1);
    expect([...http.sandboxes.values()][0]?.deadline?.action).toBe('delete');
    const later = await call('POST', '/sandbox/one/ttl/43200');
    expect(minutesUntil(later.body['autoDestroyAt'])).toBeCloseTo(43_200, 1);
    expect((await call('POST', '/sandbox/one/ttl/0')).body).not.toHaveProperty('autoDestroyAt');
    expect([...http.sandboxes.values()][0]?.deadline).toBeNull();
  });

  it.each(['43201', '-1', 'soon', '1.001'])('is refused %s minutes from now', async (minutes) => {
    await created({ name: 'one' });
    expect(await call('POST', `/sandbox/one/ttl/${minutes}`)).toMatchObject({ status: 400 });
  });

  it('comes with the creation, which leaves no sandbox without it', async () => {
    expect(minutesUntil((await created({ ttlMinutes: 5 }))['autoDestroyAt'])).toBeCloseTo(5, 1);
    expect(await call('POST', '/sandbox', { ttlMinutes: 43_201 })).toMatchObject({ status: 400 });
    expect(http.sandboxes.size).toBe(1);
  });

  it('that only stops is none of theirs', async () => {
    const { id } = await created({ name: 'one' });
    const deadline = { at: Date.now() + 60_000, action: 'stop' };
    Object.assign(http.sandboxes.get(String(id)) ?? {}, { deadline });
    expect((await call('GET', '/sandbox/one')).body).not.toHaveProperty('autoDestroyAt');
  });
});

describe('what is asked about the installation', () => {
  it('is one address of the toolbox, and no analytics', async () => {
    expect((await call('GET', '/sandbox/any/toolbox-proxy-url')).body).toEqual({
      url: `${http.url}/daytona/toolbox`,
    });
    const { body } = await call('GET', '/config');
    expect(body).toMatchObject({ defaultSnapshot: 'base', maxAutoArchiveInterval: 43_200 });
    expect(body).not.toHaveProperty('analyticsApiUrl');
  });

  it.each([
    ['POST', '/volumes'],
    ['GET', '/volumes/by-name/data'],
    ['GET', '/warm-pools'],
    ['GET', '/sandbox/one/forks'],
    ['GET', '/sandbox/one/parent'],
    ['GET', '/sandbox/one/ancestors'],
    ['POST', '/sandbox/one/pause'],
    ['POST', '/sandbox/one/autopause/5'],
    ['POST', '/sandbox/one/public/true'],
    ['GET', '/sandbox/one/telemetry/metrics'],
    ['POST', '/snapshots/one/deactivate'],
    ['GET', '/something/else'],
  ])('is refused with a sentence: %s %s', async (method, path) => {
    expect(await call(method, path)).toMatchObject(notHere(/\. See docs\/migrate-from-daytona\.md\.$/));
  });

  it('opens every port to everybody, and closes them, where the operator allows it', async () => {
    await http.close();
    http = await startHttp({ further: addDaytonaRoutes }, { mayBePublic: true });
    expect(await created({ name: 'one', public: true })).toMatchObject({ public: true });
    expect((await call('POST', '/sandbox/one/public/false')).body).toMatchObject({
      name: 'one',
      public: false,
    });
    expect((await call('POST', '/sandbox/one/public/true')).body).toMatchObject({ public: true });
    expect((await call('GET', '/sandbox')).body).toMatchObject({ items: [{ name: 'one', public: true }] });
    expect(await call('GET', '/sandbox?isPublic=true')).toMatchObject(notHere(/isPublic/));
    expect(await created({ name: 'two', public: false })).toMatchObject({ public: false });
  });

  it('is an empty list of volumes, since there are none', async () => {
    expect(await call('GET', '/volumes')).toEqual({ status: 200, body: [] });
  });
});
