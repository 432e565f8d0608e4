/** Changes of files as they happen, against a service that answers as scripted. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FileChange, Sandhaven } from '../src/index.ts';
import { broken, events, problem, ScriptedService, silent } from './scripted-service.ts';

let service: ScriptedService;
let client: Sandhaven;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  client = new Sandhaven({ url: service.url, apiKey: 'key', maxRetries: 1 });
});

afterEach(() => service.close());

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const begin = event('begin', {});
const changes = (...list: object[]) => event('changes', { changes: list });
const created = (path: string) => ({ type: 'created', path, folder: false });
const gone = event('result', { gone: true });

async function all(watched: AsyncIterable<FileChange>): Promise<FileChange[]> {
  const seen = [];
  for await (const change of watched) seen.push(change);
  return seen;
}

it('come one by one, after the watch is ready, until the folder is gone', async () => {
  const renamed = { type: 'renamed', path: 'src/b', from: 'src/a', folder: true };
  service.answers(
    events(
      begin,
      changes(created('src/a'), renamed),
      event('later', {}),
      changes({ type: 'overflow' }),
      gone,
    ),
  );
  const watched = client.sandbox('my box').files.watch('src', { recursive: true, user: 'ann' });
  expect(await all(watched)).toEqual([{ type: 'ready' }, created('src/a'), renamed, { type: 'overflow' }]);
  expect(service.asked.map(({ path }) => path)).toEqual([
    '/v1/sandboxes/my%20box/files/watch?path=src&recursive=true&user=ann',
  ]);
});

it('are those of /workspace alone where nothing else is said', async () => {
  service.answers(events(begin, gone));
  expect(await all(client.files.watch('box'))).toEqual([{ type: 'ready' }]);
  expect(service.asked[0]?.path).toBe('/v1/sandboxes/box/files/watch?path=.&recursive=false');
});

it('go on over a new connection, with an overflow in place of what was missed', async () => {
  const stops = { code: 'unavailable', status: 503, detail: 'It stops.', retryable: true };
  service.answers(
    events(begin, changes(created('a')), changes(created('lost')).slice(0, -9)),
    broken,
    events(begin, event('error', stops)),
    events(begin, changes(created('b')), gone),
  );
  expect(await all(client.files.watch('box'))).toEqual([
    ...[{ type: 'ready' }, created('a'), { type: 'overflow' }, { type: 'overflow' }, created('b')],
  ]);
});

it('end with an error that does not pass, before and after the beginning', async () => {
  const many = { code: 'resource_exhausted', status: 429, detail: 'Too many folders.', title: 'x' };
  service.answers(problem('not_found', 404), events(begin, event('error', many)));
  await expect(all(client.files.watch('box'))).rejects.toMatchObject({ code: 'not_found' });
  await expect(all(client.files.watch('box'))).rejects.toMatchObject({ code: 'resource_exhausted' });
});

it('end with the signal, and with the loop that reads them', async () => {
  service.answers(silent());
  const left = AbortSignal.timeout(50);
  await expect(all(client.files.watch('box', '.', { signal: left }))).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  const closed = Promise.withResolvers<void>();
  service.answers((response) => {
    response.once('close', closed.resolve).writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(begin);
  });
  for await (const { type } of client.files.watch('box')) if (type === 'ready') break;
  await closed.promise;
});
