/** Builds as Daytona's clients ask for them: every value here is one that they send or read. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SandhavenError } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Body = Record<string, unknown>;

const DOCKERFILE = 'FROM debian:13\nRUN make\n';
const SANDBOX = expect.stringMatching(/^sb_[0-9a-z]{16}$/);
const BUILD = expect.stringMatching(/^build_[0-9a-z]{16}$/);

let http: Harness;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
});

afterEach(() => http.close());

async function call(method: string, path: string, body?: Body, key = API_KEY) {
  const response = await fetch(`${http.url}/daytona/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

async function textOf(path: string): Promise<string> {
  return (await http.fetch(`/daytona/api${path}`)).text();
}

const buildInfo = { dockerfileContent: DOCKERFILE, contextHashes: [] };
const make = (body: Body = {}) => call('POST', '/snapshots', { name: 'tools', buildInfo, ...body });
const create = (body: Body = {}) => call('POST', '/sandbox', { name: 'one', buildInfo, ...body });

/** As a build leaves it. */
async function snapshotNamed(name: string): Promise<{ id: string }> {
  return (await call('POST', '/snapshots', { name, imageName: 'debian:13' })).body;
}

describe('a snapshot of a Dockerfile', () => {
  it('is being built under its name and the id of its build, and then there', async () => {
    const building = { id: BUILD, name: 'tools', state: 'building', cpu: 4, mem: 8, errorReason: null };
    const { status, body } = await make({ cpu: 4, memory: 8, disk: 30, entrypoint: ['run', 'it'] });
    expect([status, body]).toMatchObject([200, building]);
    expect(http.builds[0]?.request).toMatchObject({
      ...{ name: 'tools', resources: { cpu: 4, memory: 8, disk: 30 }, isCached: true },
      dockerfile: `${DOCKERFILE}\nENTRYPOINT ["run","it"]\n`,
    });
    for (const reference of [body.id, 'tools'])
      expect((await call('GET', `/snapshots/${reference}`)).body).toEqual(body);
    const { id } = await snapshotNamed('tools');
    http.builds[0]?.end.resolve({ id } as never);
    for (const reference of [body.id, 'tools', id])
      await expect
        .poll(async () => (await call('GET', `/snapshots/${reference}`)).body)
        .toMatchObject({ id, name: 'tools', imageName: 'debian:13' });
    await call('DELETE', `/snapshots/${body.id}`);
    for (const reference of ['tools', body.id])
      expect((await call('GET', `/snapshots/${reference}`)).status).toBe(404);
  });

  it('that fails says why, and can be made again', async () => {
    const { body } = await make();
    const reason = new SandhavenError('failed_precondition', 'Line 2: make ended with exit code 2.');
    http.builds[0]?.end.reject(reason);
    await expect
      .poll(async () => (await call('GET', '/snapshots/tools')).body)
      .toMatchObject({ id: body.id, state: 'build_failed', errorReason: reason.message });
    expect((await make()).body).toMatchObject({ state: 'building' });
    for (const build of http.builds) build.end.reject(reason);
    await expect.poll(async () => (await call('GET', '/snapshots/tools')).body.state).toBe('build_failed');
    for (const status of [200, 200]) expect((await call('DELETE', '/snapshots/tools')).status).toBe(status);
    expect((await call('GET', '/snapshots/tools')).status).toBe(404);
  });

  it('ends with its deletion', async () => {
    const { body } = await make();
    await call('DELETE', `/snapshots/${body.id}`);
    await expect(http.builds[0]?.end.promise).rejects.toMatchObject({
      message: 'The operation was canceled.',
    });
    expect((await call('GET', `/snapshots/${body.id}`)).status).toBe(404);
  });

  it.each([
    [{ name: 'a/b' }, 400, /name/],
    [{ cpu: 0 }, 400, /cpu/],
    [{ entrypoint: [] }, 400, /entrypoint/],
    [{ name: 'there' }, 409, /There is a snapshot named 'there'/],
    [{ name: 'building' }, 409, /There is a snapshot named 'building'/],
    [{ name: 'refused' }, 400, /Line 1/],
    [{ buildInfo: { ...buildInfo, contextHashes: ['0c'] } }, 400, /'0c' were not sent/],
    [{ buildInfo: {} }, 400, /dockerfileContent/],
  ])('is refused with %j', async (body, status, message) => {
    await snapshotNamed('there');
    await make({ name: 'building' });
    expect(await make(body)).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
    expect(http.builds).toHaveLength(1);
  });
});

describe('a sandbox of a Dockerfile', () => {
  it('waits for its build, is created after it, and has its id all the time', async () => {
    const labels = { a: 'b' };
    const asked = {
      user: 'ann',
      labels,
      cpu: 1,
      memory: 2,
      disk: 30,
      env: { X: 'y' },
      autoDeleteInterval: 60,
    };
    const { status, body } = await create(asked);
    const waiting = { id: body.id, name: 'one', user: 'ann', labels, cpu: 1, memory: 2, disk: 30 };
    expect([status, body]).toMatchObject([200, { ...waiting, id: SANDBOX, state: 'pending_build' }]);
    const [build] = http.builds;
    build?.say({ event: 'step', step: 1, of: 2, stage: '0', line: 1, text: 'FROM debian:13' });
    expect(build?.request).toMatchObject({ resources: { cpu: 1, memory: 2, disk: 30, gpu: 0 } });
    expect((await call('GET', `/sandbox/${body.id}`)).body).toMatchObject({
      ...{ ...waiting, state: 'building_snapshot', desiredState: 'started', public: false, env: {} },
      ...{ networkBlockAll: false, target: 'local', toolboxProxyUrl: `${http.url}/daytona/toolbox` },
    });
    expect(http.sandboxes.size).toBe(0);
    const { id } = await snapshotNamed(build?.request.name ?? '');
    build?.end.resolve({ id } as never);
    await expect
      .poll(async () => (await call('GET', `/sandbox/${body.id}`)).body)
      .toMatchObject({
        ...{ id: body.id, name: 'one', state: 'started', labels, env: { X: 'y' } },
        ...{ user: 'ann', autoDeleteInterval: 60 },
      });
    expect([...http.sandboxes.keys()]).toEqual([body.id]);
    for (const reference of [`sandbox/${body.id}`, `snapshots/${id}`])
      expect(await textOf(`/${reference}/build-logs?follow=true`)).toBe('[1/2] FROM debian:13\n');
    await expect.poll(async () => (await call('GET', `/snapshots/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/sandbox/${body.id}`)).body).toMatchObject({
      id: body.id,
      state: 'destroyed',
    });
    expect(http.sandboxes.size).toBe(0);
  });

  it('is there though its snapshot could not be deleted', async () => {
    const { body } = await create();
    const { id } = await snapshotNamed(http.builds[0]?.request.name ?? '');
    const broken = new Error('the database is away');
    Object.assign(http.services.snapshots, { delete: () => Promise.reject(broken) });
    http.builds[0]?.end.resolve({ id } as never);
    await expect
      .poll(async () => (await call('GET', `/sandbox/${body.id}`)).body)
      .toMatchObject({ id: body.id, state: 'started' });
    expect((await call('DELETE', `/sandbox/${body.id}`)).body).toMatchObject({ state: 'destroyed' });
    expect(http.sandboxes.size).toBe(0);
  });

  it('whose build fails says why', async () => {
    const { body } = await create();
    http.builds[0]?.end.reject(new Error('a secret of the host'));
    await expect
      .poll(async () => (await call('GET', `/sandbox/${body.id}`)).body)
      .toMatchObject({ id: body.id, name: 'one', state: 'build_failed', errorReason: 'The build failed.' });
    expect(http.sandboxes.size).toBe(0);
  });

  it('ends its build with its deletion, and nobody else sees it', async () => {
    const { body } = await create();
    for (const method of ['GET', 'DELETE'])
      expect((await call(method, `/sandbox/${body.id}`, undefined, MEMBER_KEY)).status).toBe(404);
    expect((await call('DELETE', `/sandbox/${body.id}`)).body).toMatchObject({ state: 'destroyed' });
    await expect(http.builds[0]?.end.promise).rejects.toMatchObject({
      message: 'The operation was canceled.',
    });
    expect((await call('GET', `/sandbox/${body.id}`)).status).toBe(404);
  });

  it.each([
    [{ name: 'there' }, 409, /There is a sandbox named 'there'/],
    [{ cpu: 0 }, 400, /cpu/],
    [{ snapshot: 'there' }, 400, /mutually exclusive/],
    [{ labels: { a: 1 } }, 400, /labels/],
    [{ volumes: [{ volumeId: 'v' }] }, 501, /volumes/],
    [{ secrets: [{ A: 'none' }] }, 404, /none/],
  ])('is refused with %j before it is built', async (body, status, message) => {
    await call('POST', '/sandbox', { name: 'there' });
    expect(await create(body)).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
    expect(http.builds).toEqual([]);
  });
});

describe('the log of a build', () => {
  it('is text, at once or to its end', async () => {
    const { body } = await make();
    const [build] = http.builds;
    const { url } = (await call('GET', `/snapshots/${body.id}/build-logs-url`)).body;
    const log = async (query: string) =>
      (await fetch(url + query, { headers: { authorization: `Bearer ${API_KEY}` } })).text();
    build?.say({ event: 'step', step: 1, of: 2, stage: '0', line: 1, text: 'FROM debian:13' });
    expect(await log('')).toBe('[1/2] FROM debian:13\n');
    const followed = log('?follow=true');
    build?.say({ event: 'step', step: 2, of: 2, stage: '0', line: 2, text: 'RUN make', cached: true });
    build?.say({ event: 'output', stream: 'stderr', text: 'wárned' });
    build?.say({ event: 'failed', line: 2, exit_code: 2 });
    build?.end.reject(new SandhavenError('failed_precondition', 'It failed.'));
    expect(await followed).toBe(
      '[1/2] FROM debian:13\n[2/2] RUN make  (kept)\nwárnedIt ended with exit code 2.\n',
    );
    expect((await fetch(`${url}?follow=true`)).status).toBe(401);
    expect((await call('GET', `/snapshots/build_none/build-logs`)).status).toBe(404);
  });

  it('ends with a stop of the service', async () => {
    const { body } = await create();
    const { url } = (await call('GET', `/sandbox/${body.id}/build-logs-url`)).body;
    const headers = { authorization: `Bearer ${API_KEY}` };
    const response = await fetch(`${url}?follow=true`, { headers });
    await http.stop();
    expect(await response.text()).toBe('');
    http = await startHttp();
  });
});
