/** The stream of changes of files: who may see it, what comes in it, and how it ends. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FileChange } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { API_KEY, createFakeServices } from '../fakes/fake-services.ts';
import { type FakeWatch, fakeWatching } from '../fakes/fake-watching.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;
let watches: FakeWatch[];

beforeEach(async () => {
  watches = [];
  const watch = fakeWatching((watch) => {
    watches.push(watch);
    watch.sink.begun();
  });
  const { services } = createFakeServices();
  http = await startHttp({
    services: { ...services, files: { ...services.files, watch } } as unknown as Services,
  });
});

afterEach(() => http.close());

const path = (query = '') => `/v1/sandboxes/box/files/watch${query}`;
const last = () => watches.at(-1) as FakeWatch;
const eventsOf = (text: string) =>
  [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, event, data = '']) => [event, JSON.parse(data)]);

it('begins once the folder is watched, has changes as they come, and ends when the folder is gone', async () => {
  const answer = http.fetch(path('?path=src&recursive=true&user=ann'));
  await expect.poll(() => watches).toHaveLength(1);
  expect(last().request).toEqual({ path: 'src', recursive: true, user: 'ann' });
  const changes: FileChange[] = [
    { type: 'created', path: 'src/a', folder: true },
    { type: 'renamed', path: 'src/c', from: 'src/b', folder: false },
    { type: 'overflow' },
  ];
  last().sink.changed(changes.slice(0, 2));
  last().sink.changed(changes.slice(2));
  last().end.resolve();
  const response = await answer;
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(eventsOf(await response.text())).toEqual([
    ['begin', {}],
    ['changes', { changes: changes.slice(0, 2) }],
    ['changes', { changes: [{ type: 'overflow' }] }],
    ['result', { gone: true }],
  ]);
});

it('is of /workspace alone, as the usual user, where nothing else is said', async () => {
  const answer = http.fetch(path());
  await expect.poll(() => watches).toHaveLength(1);
  expect(last().request).toEqual({ path: '.', recursive: false, user: undefined });
  last().end.resolve();
  await answer;
});

it('has an error that comes later as its last event', async () => {
  const answer = http.fetch(path());
  await expect.poll(() => watches).toHaveLength(1);
  last().end.reject(new SandhavenError('resource_exhausted', 'Too many folders.'));
  const events = eventsOf(await (await answer).text());
  expect(events.map(([event]) => event)).toEqual(['begin', 'error']);
  expect(events[1]?.[1]).toMatchObject({ code: 'resource_exhausted', status: 429 });
});

it('is a problem with its status where it does not begin', async () => {
  expect((await http.fetch(path('?path=nope'))).status).toBe(404);
  for (const wrong of ['?path=', '?recursive=yes', '?user=-', '?depth=1']) {
    expect((await http.fetch(path(wrong))).status, wrong).toBe(400);
  }
  expect((await fetch(`${http.url}${path()}`)).status).toBe(401);
  expect(watches).toEqual([]);
});

it('gives no room for more while a client does not read, and ends with the client', async () => {
  const headers = { authorization: `Bearer ${API_KEY}` };
  const request = get(`${http.url}${path()}`, { headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  const changes = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ type: 'created' as const, path: `${'x'.repeat(100)}${at}`, folder: false },
  }));
  let room: Promise<unknown> | undefined;
  for (let pieces = 0, isHeld = false; !isHeld && pieces < 1_000; pieces++) {
    room = last().sink.changed(changes);
    isHeld = await Promise.race([Promise.resolve(room).then(() => false), sleep(200, true)]);
  }
  expect(room).toBeDefined();
  request.destroy();
  await room;
  await expect.poll(() => last().signal.aborted).toBe(true);
});

it('has 256 watches of one user', async () => {
  const answers = Array.from({ length: 256 }, () => http.fetch(path()));
  await expect.poll(() => watches).toHaveLength(256);
  expect((await http.fetch(path())).status).toBe(429);
  for (const { end } of watches) end.resolve();
  await Promise.all(answers.map(async (answer) => (await answer).text()));
  const again = http.fetch(path());
  await expect.poll(() => watches).toHaveLength(257);
  last().end.resolve();
  expect((await again).status).toBe(200);
});

it('ends with a stop of the service', async () => {
  const answer = http.fetch(path());
  await expect.poll(() => watches).toHaveLength(1);
  const stopped = http.stop();
  const events = eventsOf(await (await answer).text());
  expect(events.at(-1)).toMatchObject(['error', { code: 'unavailable', retryable: true }]);
  await stopped;
  expect(http.log.filter(({ level }) => level === 'error')).toEqual([]);
});
