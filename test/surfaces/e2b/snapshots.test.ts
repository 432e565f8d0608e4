/** Snapshots and forks of sandboxes by the control API of E2B's clients: every value here is one that they send or read. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SandhavenError } from '../../../src/model/errors.ts';
import { addE2bRoutes } from '../../../src/surfaces/e2b/routes.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Body = Record<string, unknown>;

let http: Harness;
let id: string;

beforeEach(async () => {
  http = await startHttp({ further: addE2bRoutes });
  id = await created();
});

afterEach(() => http.close());

async function call(method: string, path: string, body?: unknown, key = API_KEY) {
  const response = await fetch(`${http.url}/e2b/api${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  return {
    status: response.status,
    next: response.headers.get('x-next-token'),
    body: text === '' ? {} : JSON.parse(text),
  };
}

async function created(body: Body = {}): Promise<string> {
  const answer = await call('POST', '/sandboxes', { templateID: 'base', timeout: 300, ...body });
  return answer.body.sandboxID;
}

const take = (body: Body, of = id) => call('POST', `/sandboxes/${of}/snapshots`, body);
const fork = (body: Body, of = id) => call('POST', `/sandboxes/${of}/fork`, body);
const refused = (status: number, message: RegExp) => ({
  status,
  body: { code: status, message: expect.stringMatching(message) },
});

describe('a snapshot', () => {
  it('has an id and its name, and is deleted once, also by a name with the tag', async () => {
    const { status, body } = await take({ name: 'point' });
    expect(status).toBe(201);
    expect(body).toEqual({ snapshotID: expect.stringMatching(/^snap_[0-9a-z]{16}$/), names: ['point'] });
    expect((await call('DELETE', '/templates/point%3Adefault')).status).toBe(204);
    expect(await call('DELETE', `/templates/${body.snapshotID}`)).toMatchObject(refused(404, /no snapshot/));
    expect((await take({})).body.names).toHaveLength(1);
  });

  it.each(['point', 'point:default'])('is a template by its name: %s', async (name) => {
    await take({ name });
    const made = await created({ templateID: name });
    expect(http.sandboxes.get(`sb_${made}`)).toMatchObject({ snapshot: 'point', user: 'user' });
    expect((await call('GET', `/templates/aliases/${name}`)).body).toEqual({
      ...{ templateID: 'point', public: true },
    });
  });

  it.each([
    [{ name: 'a/b' }, 400, /name/],
    [{ name: 7 }, 400, /name/],
    [{ memory: true }, 501, /memory/],
  ])('is refused with %j before there is anything', async (body, status, message) => {
    expect(await take(body)).toMatchObject(refused(status, message));
    expect((await call('GET', '/snapshots')).body).toEqual([]);
  });

  it("is not found of a sandbox that is gone, nor of another owner's", async () => {
    const { body } = await take({ name: 'point' });
    const byMember = (method: string, path: string, sent?: Body) => call(method, path, sent, MEMBER_KEY);
    expect(await byMember('POST', `/sandboxes/${id}/snapshots`, {})).toMatchObject(
      refused(404, /no sandbox/),
    );
    expect(await byMember('DELETE', `/templates/${body.snapshotID}`)).toMatchObject(
      refused(404, /no snapshot/),
    );
    expect((await byMember('GET', '/snapshots')).body).toEqual([]);
    await call('DELETE', `/sandboxes/${id}`);
    expect(await take({})).toMatchObject(refused(404, /no sandbox/));
  });
});

describe('a list of snapshots', () => {
  it('has pages, newest first, of a sandbox or by a name, and none of images', async () => {
    const other = await created();
    const ids: Record<string, string> = {};
    for (const [name, of] of [
      ['a', id],
      ['b', other],
      ['c', id],
    ] as const)
      ids[name] = (await take({ name }, of)).body.snapshotID;
    await http.fetch('/v1/tools/Sandbox.CreateSnapshot', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'image', image: 'debian:13' }),
    });
    const listed = async (query: string) => {
      const { body, next } = await call('GET', `/snapshots${query}`);
      return { names: body.map(({ names }: { names: string[] }) => names[0]), next };
    };
    expect(await listed('')).toEqual({ names: ['c', 'b', 'a'], next: null });
    const first = await listed('?limit=2');
    expect(first.names).toEqual(['c', 'b']);
    expect(await listed(`?limit=2&nextToken=${first.next}`)).toEqual({ names: ['a'], next: null });
    expect((await listed(`?sandboxID=${other}`)).names).toEqual(['b']);
    expect((await listed('?name=a:default')).names).toEqual(['a']);
    expect((await listed(`?name=${ids['c']}`)).names).toEqual(['c']);
    expect((await listed('?name=none')).names).toEqual([]);
  });

  it.each(['limit=0', 'limit=101', 'nextToken=x'])('is refused with %s', async (query) => {
    const [parameter = ''] = query.split('=');
    expect(await call('GET', `/snapshots?${query}`)).toMatchObject(refused(400, new RegExp(parameter)));
  });
});

describe('forks', () => {
  const deadlineOf = (short: unknown) => http.sandboxes.get(`sb_${short}`)?.deadline;
  const secondsOf = (short: unknown) => (Number(deadlineOf(short)?.at) - Date.now()) / 1_000;

  it('answer all that a client needs to work inside, and end by themselves', async () => {
    const { status, body } = await fork({ timeout: 60, count: 2 });
    expect(status).toBe(201);
    const one = {
      sandbox: {
        ...{ templateID: 'base', sandboxID: expect.stringMatching(/^[0-9a-z]{16}$/), clientID: 'sandhaven' },
        ...{ envdVersion: '0.6.4', envdAccessToken: expect.stringMatching(/^sbt_/), domain: null },
        trafficAccessToken: expect.stringMatching(/^sbt_/),
      },
    };
    expect(body).toEqual([one, one]);
    expect(new Set([id, ...body.map(({ sandbox }: never) => sandbox['sandboxID'])]).size).toBe(3);
    for (const { sandbox } of body) {
      expect(secondsOf(sandbox.sandboxID)).toBeGreaterThan(50);
      expect(secondsOf(sandbox.sandboxID)).toBeLessThanOrEqual(60);
      expect(deadlineOf(sandbox.sandboxID)?.action).toBe('delete');
    }
    expect(secondsOf(id)).toBeGreaterThan(290);
  });

  it('are one, for 15 seconds, by default', async () => {
    const { body } = await fork({});
    expect(body).toHaveLength(1);
    expect(secondsOf(body[0].sandbox.sandboxID)).toBeLessThanOrEqual(15);
  });

  it('have the metadata and the lifecycle of the sandbox', async () => {
    const lifecycle = { autoPause: true, autoResume: { enabled: true }, metadata: { a: 'b' } };
    const { body } = await fork({}, await created(lifecycle));
    const { sandboxID } = body[0].sandbox;
    expect((await call('GET', `/sandboxes/${sandboxID}`)).body).toMatchObject({
      ...{ metadata: { a: 'b' }, lifecycle: { onTimeout: 'pause', autoResume: true } },
    });
    expect(deadlineOf(sandboxID)?.action).toBe('sleep');
  });

  it('have open ports where the sandbox has', async () => {
    await http.close();
    http = await startHttp({ further: addE2bRoutes }, { mayBePublic: true });
    const open = async (body: Body) => {
      const forked = await fork({}, await created(body));
      return http.services.publicPorts.isOpen(`sb_${forked.body[0].sandbox.sandboxID}`);
    };
    expect(await open({})).toBe(true);
    expect(await open({ network: { allowPublicTraffic: false } })).toBe(false);
  });

  it.each([
    [{ count: 0 }, /count/],
    [{ count: 101 }, /count/],
    [{ timeout: 0 }, /timeout/],
    [{ timeout: 1.5 }, /timeout/],
    [{ timeout: 2_592_001 }, /timeout/],
    [{ timeout: '60' }, /timeout/],
  ])('are refused with %j before there is anything', async (body, message) => {
    expect(await fork(body)).toMatchObject(refused(400, message));
    expect(http.sandboxes.size).toBe(1);
  });

  it("are not found of a sandbox that was killed, nor of another owner's", async () => {
    expect(await call('POST', `/sandboxes/${id}/fork`, {}, MEMBER_KEY)).toMatchObject(
      refused(404, /no sandbox/),
    );
    await call('DELETE', `/sandboxes/${id}`);
    expect(await fork({})).toMatchObject(refused(404, /no sandbox/));
  });

  it('fail one by one, and leave none that has no end', async () => {
    const full = new SandhavenError('resource_exhausted', 'There is no room.');
    const other = http.sandboxes.get(`sb_${await created()}`);
    if (!other) throw new Error('it was not created');
    vi.spyOn(http.services.forks, 'fork').mockResolvedValue([{ error: full }, { sandbox: other }]);
    expect((await fork({ count: 2 })).body).toEqual([
      { sandbox: expect.objectContaining({ envdVersion: '0.6.4' }) },
      { error: { code: 429, message: 'There is no room.' } },
    ]);
    const away = new SandhavenError('unavailable', 'Try again.');
    vi.spyOn(http.services.sandboxes, 'setDeadline').mockRejectedValue(away);
    expect((await fork({ count: 2 })).body[0]).toEqual({ error: { code: 503, message: 'Try again.' } });
    expect([...http.sandboxes.keys()]).toEqual([`sb_${id}`]);
  });
});
