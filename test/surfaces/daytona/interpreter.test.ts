/** Contexts of Daytona's clients: by requests, and code on their WebSocket. */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { fakeContexts } from '../fakes/fake-contexts.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let http: Harness;
let contexts: ReturnType<typeof fakeContexts>;
const clients: WebSocket[] = [];

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  contexts = fakeContexts();
  Object.assign(http.services.contexts, contexts);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await http.close();
});

async function call(method: string, path = '', body?: unknown) {
  const response = await http.fetch(`/daytona/toolbox/box/process/interpreter/context${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** Returns the messages, and the code of the close. */
async function execute(message: object | string) {
  const url = `ws://127.0.0.1:${http.port}/daytona/toolbox/box/process/interpreter/execute`;
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${API_KEY}` },
    ...{ perMessageDeflate: false, maxPayload: 1 << 20, handshakeTimeout: 5_000 },
  });
  clients.push(socket);
  const messages: unknown[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const closed = once(socket, 'close');
  await once(socket, 'open');
  socket.send(typeof message === 'string' ? message : JSON.stringify(message), { binary: false });
  const [code] = await closed;
  return { messages, code };
}

it('are made, listed without the shared one, and deleted', async () => {
  const context = {
    id: 'context_1',
    active: true,
    language: 'python',
    createdAt: '2023-11-14T22:13:20.123Z',
  };
  expect(await call('POST', '', { cwd: '/srv' })).toMatchObject({ status: 200, body: context });
  expect(contexts.calls.splice(0)).toEqual([
    ['create', { cwd: '/srv', memoryMb: undefined, user: undefined }],
  ]);
  expect((await call('GET')).body).toMatchObject({
    contexts: [
      { id: 'python', active: true, cwd: '.' },
      { id: 'b', active: false },
    ],
  });
  expect((await call('DELETE', '/python')).status).toBe(200);
  expect((await call('DELETE', '/nope')).status).toBe(404);
});

it('run code, and stream what it prints and raises', async () => {
  const completed = { type: 'control', text: 'completed' };
  expect(await execute({ code: 'print hi', envs: { A: 'b' }, timeout: 5 })).toEqual({
    messages: [{ type: 'stdout', text: 'hi\n' }, completed],
    code: 1_000,
  });
  expect(contexts.calls.splice(0)).toEqual([
    ['run', { language: 'python', env: { A: 'b' }, timeoutMs: 5_000 }],
  ]);
  expect(await execute({ code: 'raise no', contextId: 'b', timeout: 0 })).toEqual({
    messages: [{ type: 'error', name: 'ValueError', value: 'no', traceback: 'ValueError: no\n' }, completed],
    code: 1_000,
  });
  expect(contexts.calls.splice(0)).toEqual([['run', { env: {}, timeoutMs: 600_000 }]]);
});

it('close with a code where the code does not run, or runs over its time', async () => {
  expect(await execute({ code: 'print x', contextId: 'other' })).toEqual({ messages: [], code: 4_404 });
  expect(await execute('no JSON')).toEqual({ messages: [], code: 4_400 });
  const { run } = contexts;
  const late: typeof run = async (...given) => ({ ...(await run(...given)), timedOut: true });
  Object.assign(http.services.contexts, { run: late });
  expect(await execute({ code: 'print x' })).toEqual({
    messages: [{ type: 'stdout', text: 'x\n' }],
    code: 4_008,
  });
});
