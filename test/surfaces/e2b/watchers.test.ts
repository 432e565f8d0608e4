/** Watches that a client of E2B asks again and again, over a watch that changes as a test says. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { notFound } from '../../../src/model/errors.ts';
import { addE2bRoutes } from '../../../src/surfaces/e2b/routes.ts';
import { API_KEY, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type FakeWatch, fakeWatching } from '../fakes/fake-watching.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let http: Harness;
let id: string;
let token: string;
let watched: (watch: FakeWatch) => void;
let watch: FakeWatch;

beforeEach(async () => {
  watched = (asked) => {
    watch = asked;
    asked.sink.begun();
  };
  http = await startHttp({ further: addE2bRoutes });
  Object.assign(http.services.files, { watch: fakeWatching((asked) => watched(asked)) });
  [id, token] = await created(MEMBER_KEY);
});

afterEach(() => http.close());

async function created(key: string): Promise<[id: string, token: string]> {
  const response = await fetch(`${http.url}/e2b/api/sandboxes`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ templateID: 'base', timeout: 300 }),
  });
  const { sandboxID = '', envdAccessToken = '' } = (await response.json()) as Record<string, string>;
  return [sandboxID, envdAccessToken];
}

async function call(name: string, message: object, [sandbox, by] = [id, token]) {
  const response = await fetch(`${http.url}/e2b/sandbox/filesystem.Filesystem/${name}`, {
    method: 'POST',
    headers: { 'e2b-sandbox-id': sandbox, 'x-access-token': by, 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const written = (name: string) => ({ type: 'written' as const, path: `w/${name}`, folder: false });

it('give what came since the last question, and end when they are removed', async () => {
  const { body } = await call('CreateWatcher', { path: 'w', recursive: true });
  expect(body).toEqual({ watcherId: expect.stringMatching(/^[0-9a-z]{16}$/) });
  expect(watch.request).toEqual({ path: '/home/user/w', recursive: true, user: 'root' });
  await watch.sink.changed([written('a'), written('b')]);
  const events = ['a', 'b'].map((name) => ({ name, type: 'EVENT_TYPE_WRITE' }));
  expect((await call('GetWatcherEvents', body)).body).toEqual({ events });
  expect((await call('GetWatcherEvents', body)).body).toEqual({ events: [] });
  expect(await call('RemoveWatcher', body)).toEqual({ status: 200, body: {} });
  expect(watch.signal.aborted).toBe(true);
  expect((await call('GetWatcherEvents', body)).status).toBe(404);
});

it('keep the last changes of a folder that is gone', async () => {
  const { body } = await call('CreateWatcher', { path: 'w' });
  await watch.sink.changed([written('a')]);
  watch.end.resolve();
  expect((await call('GetWatcherEvents', body)).body).toMatchObject({ events: [{ name: 'a' }] });
});

it('hold the share of their owner until they are removed, also of a folder that is gone', async () => {
  const made: object[] = [];
  for (let count = 0; count < 256; count++) {
    made.push((await call('CreateWatcher', { path: 'w' })).body);
    watch.end.resolve();
  }
  expect((await call('CreateWatcher', { path: 'w' })).status).toBe(429);
  await call('RemoveWatcher', made[0] ?? {});
  expect((await call('CreateWatcher', { path: 'w' })).status).toBe(200);
});

it('refuse a folder that is not there', async () => {
  watched = ({ end }) => end.reject(notFound('path', "'gone' does not exist."));
  expect((await call('CreateWatcher', { path: 'gone' })).status).toBe(404);
});

it('hold 64 KiB of changes, and then wait for a question', async () => {
  const { body } = await call('CreateWatcher', { path: 'w' });
  let done = false;
  // 384 bytes each.
  const names = Array.from({ length: 300 }, (_, at) => String(at).padStart(256, '0'));
  const changed = watch.sink.changed(names.map(written));
  void changed?.then(() => {
    done = true;
  });
  const counts = async () => ((await call('GetWatcherEvents', body)).body['events'] as unknown[]).length;
  expect(await counts()).toBe(171);
  await vi.waitFor(() => expect(done).toBe(true));
  expect(await counts()).toBe(129);
});

it('are of their sandbox alone', async () => {
  const { body } = await call('CreateWatcher', { path: 'w' });
  for (const other of [await created(MEMBER_KEY), await created(API_KEY)])
    expect((await call('GetWatcherEvents', body, other)).status).toBe(404);
});

it('end when the token is revoked', async () => {
  await call('CreateWatcher', { path: 'w' });
  await fetch(`${http.url}/v1/admin/RevokeAccess`, {
    method: 'POST',
    headers: { 'x-api-key': MEMBER_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ sandbox: `sb_${id}`, kind: 'token' }),
  });
  await vi.waitFor(() => expect(watch.signal.aborted).toBe(true));
});

it('end ten minutes after the last question', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { body } = await call('CreateWatcher', { path: 'w' });
    vi.advanceTimersByTime(599_000);
    await call('GetWatcherEvents', body);
    vi.advanceTimersByTime(599_000);
    expect(watch.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(watch.signal.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
