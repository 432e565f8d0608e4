/** Code in contexts as E2B's clients run it: lines of JSON, and contexts by their ids. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SandhavenError } from '../../../src/model/errors.ts';
import { addE2bRoutes } from '../../../src/surfaces/e2b/routes.ts';
import { MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let http: Harness;
let id: string;
let token: string;

beforeEach(async () => {
  http = await startHttp({ further: addE2bRoutes });
  const response = await fetch(`${http.url}/e2b/api/sandboxes`, {
    method: 'POST',
    headers: { 'x-api-key': MEMBER_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ templateID: 'code-interpreter-v1', timeout: 300 }),
  });
  const { sandboxID = '', trafficAccessToken = '' } = (await response.json()) as Record<string, string>;
  [id, token] = [sandboxID, trafficAccessToken];
});

afterEach(() => http.close());

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${http.url}/e2b/sandbox${path}`, {
    method,
    headers: {
      ...{ 'e2b-sandbox-id': id, 'e2b-sandbox-port': '49999', 'e2b-traffic-access-token': token },
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, text: await response.text() };
}

async function lines(body: object): Promise<Record<string, unknown>[]> {
  const { status, text } = await call('POST', '/execute', body);
  expect(status).toBe(200);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const END = [{ type: 'number_of_executions', execution_count: 1 }, { type: 'end_of_execution' }];

it('shows what code prints, what it shows and what it raises, and ends', async () => {
  expect(await lines({ code: 'print héllo' })).toEqual([
    { type: 'stdout', text: 'héllo\n', timestamp: expect.any(Number) },
    ...END,
  ]);
  expect(await lines({ code: 'show 2' })).toEqual([
    { type: 'result', is_main_result: true, text: '2', png: 'iVBORw0KGgo=' },
    ...END,
  ]);
  expect(await lines({ code: 'raise no' })).toEqual([
    { type: 'error', name: 'ValueError', value: 'no', traceback: 'ValueError: no\n' },
    ...END,
  ]);
});

it.each([
  [undefined, { language: 'python' }],
  ['ts', { language: 'typescript' }],
  ['JavaScript', { language: 'typescript' }],
  ['bash', { language: 'bash' }],
])('takes the language %s', async (language, given) => {
  await lines({ code: 'print a', language, env_vars: { A: '1' } });
  const { calls } = http.services.contexts as unknown as { calls: unknown[][] };
  const places = { user: 'root', cwd: '/home/user', env: { A: '1' }, timeoutMs: 600_000 };
  expect(calls.at(-1)).toMatchObject(['run', { ...given, ...places }]);
});

it('refuses a language and a context that are not there, before it begins', async () => {
  expect(await call('POST', '/execute', { code: 'x', language: 'r' })).toMatchObject({ status: 501 });
  expect(await call('POST', '/execute', { code: 'x', language: 'constructor' })).toMatchObject({
    status: 501,
  });
  expect(await call('POST', '/execute', { code: 'x', context_id: 'nope' })).toMatchObject({ status: 404 });
  expect(await call('POST', '/contexts/nope/restart')).toMatchObject({ status: 404 });
});

it('makes, lists, restarts and deletes contexts', async () => {
  const made = await call('POST', '/contexts', { cwd: '/srv' });
  expect([made.status, JSON.parse(made.text)]).toMatchObject([201, { id: 'context_1', language: 'python' }]);
  const listed = await call('GET', '/contexts');
  expect(JSON.parse(listed.text)).toEqual([
    // One that code without a context would make.
    { id: 'javascript', language: 'javascript', cwd: '/home/user' },
    { id: 'python', language: 'python', cwd: '.' },
    { id: 'b', language: 'python', cwd: '.' },
  ]);
  expect((await call('POST', '/contexts/b/restart')).status).toBe(200);
  expect((await call('DELETE', '/contexts/b')).status).toBe(204);
});

it('runs code in a default context before that is there', async () => {
  await lines({ code: 'print a', context_id: 'javascript' });
  const { calls } = http.services.contexts as unknown as { calls: unknown[][] };
  expect(calls.at(-1)).toMatchObject(['run', { language: 'typescript' }]);
});

it('breaks an answer that has begun when the run fails, so that nobody waits for its end', async () => {
  const running = Promise.withResolvers<never>();
  Object.assign(http.services.contexts, { run: () => running.promise });
  const response = await fetch(`${http.url}/e2b/sandbox/execute`, {
    method: 'POST',
    headers: { 'e2b-sandbox-id': id, 'x-access-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'print a' }),
  });
  expect(response.status).toBe(200);
  running.reject(new SandhavenError('unavailable', 'The connection to the sandbox broke.'));
  await expect(response.text()).rejects.toThrow('terminated');
});

it('begins its answer while code says nothing, and breaks it when the sandbox ends', async () => {
  const running = Promise.withResolvers<never>();
  Object.assign(http.services.contexts, { run: () => running.promise });
  const response = await fetch(`${http.url}/e2b/sandbox/execute`, {
    method: 'POST',
    headers: { 'e2b-sandbox-id': id, 'x-access-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'print a' }),
  });
  expect(response.status).toBe(200);
  http.sandboxes.delete(`sb_${id}`);
  running.reject(new SandhavenError('not_found', 'The sandbox was deleted.'));
  await expect(response.text()).rejects.toThrow('terminated');
});
