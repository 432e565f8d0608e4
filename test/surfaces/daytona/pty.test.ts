/** Terminals of Daytona's clients: by requests, and on their WebSockets. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { LookRequest } from '../../../src/control/work/terminals.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { TerminalRack } from '../../web/support/terminal-rack.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const EXIT = 'X-Daytona-Pty-Exit-Control';

let http: Harness;
let rack: TerminalRack;
let looks: LookRequest[];
const clients: WebSocket[] = [];

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  rack = new TerminalRack();
  looks = [];
  const service = rack.service();
  Object.assign(http.services.terminals, service, {
    look: (...given: Parameters<typeof service.look>) => {
      looks.push(given[2]);
      return service.look(...given);
    },
  });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await http.close();
});

async function call(method: string, path = '', body?: unknown) {
  const response = await http.fetch(`/daytona/toolbox/box/process/pty${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

interface Client {
  socket: WebSocket;
  /** Text messages, parsed, and binary ones. */
  notes: Record<string, unknown>[];
  bytes: () => string;
  closed: Promise<unknown[]>;
}

async function dial(path: string, protocols: string[] = []): Promise<Client> {
  const socket = new WebSocket(
    `ws://127.0.0.1:${http.port}/daytona/toolbox/box/process/pty/${path}`,
    protocols,
    {
      ...{ headers: { authorization: `Bearer ${API_KEY}` }, handshakeTimeout: 5_000 },
      ...{ perMessageDeflate: false, maxPayload: 1 << 20 },
    },
  );
  clients.push(socket);
  const notes: Client['notes'] = [];
  const pieces: Buffer[] = [];
  socket.on('message', (data, isBinary) => {
    if (isBinary) pieces.push(data);
    else notes.push(JSON.parse(String(data)));
  });
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)]);
  await once(socket, 'open');
  await expect.poll(() => notes.length).toBeGreaterThan(0);
  return { socket, notes, bytes: () => Buffer.concat(pieces).toString(), closed };
}

const connected = { type: 'control', status: 'connected' };

describe('by requests', () => {
  it('a terminal is made, shown, resized and ended', async () => {
    const wish = { id: 't1', cols: 100, rows: 30, cwd: '/srv', envs: { A: 'b' }, lazyStart: true };
    expect(await call('POST', '', wish)).toEqual({ status: 201, body: { sessionId: 't1' } });
    expect(looks).toEqual([
      {
        terminalId: 't1',
        size: { columns: 100, rows: 30 },
        ...{ create: true, cwd: '/srv', env: { A: 'b' } },
      },
    ]);
    const session = {
      ...{ id: 't1', active: true, cols: 100, rows: 30, cwd: '', envs: {}, lazyStart: false },
      createdAt: '1970-01-01T00:00:00.000Z',
    };
    expect(await call('GET')).toEqual({ status: 200, body: { sessions: [session] } });
    expect(await call('GET', '/t1')).toEqual({ status: 200, body: session });
    expect(await call('POST', '/t1/resize', { cols: 90, rows: 20 })).toEqual({
      status: 200,
      body: { ...session, cols: 90, rows: 20 },
    });
    expect((await call('DELETE', '/t1')).status).toBe(200);
    expect((await call('GET', '/t1')).status).toBe(404);
  });

  it('is refused where it is there, is none, or is wished for wrongly', async () => {
    await call('POST', '', { id: 't1' });
    const again = await call('POST', '', { id: 't1', cols: 1, rows: 1 });
    expect([again.status, again.body.source]).toEqual([409, 'DAYTONA_DAEMON']);
    expect(rack.of('t1').size).toEqual({ columns: 80, rows: 24 });
    expect((await call('POST', '/t2/resize', { cols: 90, rows: 20 })).status).toBe(404);
    expect((await call('POST', '/t1/resize', { cols: 0, rows: 20 })).status).toBe(400);
    expect((await call('POST', '', { id: 'a b' })).status).toBe(400);
    expect((await call('POST', '', { id: 't2', envs: { '1': 'x' } })).status).toBe(400);
    expect((await call('GET', '/t1/connect')).status).toBe(400);
    expect((await call('POST', '', {})).body).toEqual({
      sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });
});

describe('on a WebSocket', () => {
  it('shows what is printed and takes what is typed, until the end', async () => {
    await call('POST', '', { id: 't1' });
    rack.of('t1').print('before ');
    const { socket, notes, bytes, closed } = await dial('t1/connect');
    expect(notes).toEqual([connected]);
    expect([socket.protocol, looks.at(-1)]).toEqual(['', { terminalId: 't1', size: null, create: false }]);
    socket.send(Buffer.from('ls\n'), { binary: true });
    socket.send('{"id"\n', { binary: false });
    await expect.poll(() => rack.of('t1').typed).toBe('ls\n{"id"\n');
    rack.of('t1').print('after');
    await expect.poll(bytes).toBe('before after');
    rack.of('t1').exit(0);
    expect(await closed).toEqual([1000, '{"exitCode":0}']);
    expect(notes).toEqual([connected]);
  });

  it('tells the end to clients that read it', async () => {
    await call('POST', '', { id: 't1' });
    const { socket, notes, closed } = await dial('t1/connect', [EXIT]);
    expect(socket.protocol).toBe(EXIT);
    rack.of('t1').exit(3);
    const exit = { exitCode: 3, exitReason: 'The shell ended with code 3.' };
    expect(await closed).toEqual([1000, JSON.stringify(exit)]);
    expect(notes).toEqual([connected, { type: 'control', status: 'exited', ...exit }]);
  });

  it('makes and connects in one, with an environment that is in no answer and no log', async () => {
    const envs = { TOKEN: 'geheim', MORE: '?>~' };
    const token = `X-Daytona-Pty-Envs~${Buffer.from(JSON.stringify(envs)).toString('base64url')}`;
    const { socket, notes } = await dial('create-connect?id=t1&cols=100&rows=30&cwd=%2Fsrv', [token, EXIT]);
    expect([socket.protocol, notes]).toEqual([EXIT, [connected]]);
    expect(looks).toEqual([
      {
        terminalId: 't1',
        size: { columns: 100, rows: 30 },
        ...{ create: true, cwd: '/srv', env: envs },
      },
      { terminalId: 't1', size: null, create: false },
    ]);
    expect(JSON.stringify(http.log)).not.toMatch(/geheim|Z2VoZWlt/);
    const alone = await dial('create-connect?id=t2', [token]);
    expect(alone.socket.protocol).toBe(token);
    expect(rack.of('t2').size).toEqual({ columns: 80, rows: 24 });
  });

  it('says in a message why there is no terminal', async () => {
    await call('POST', '', { id: 't1' });
    for (const [path, protocols, sentence, code] of [
      ['nope/connect', [], /no terminal 'nope'/, 4404],
      ['create-connect?id=t1', [], /already/, 4409],
      ['create-connect?id=t2&cols=0', [], /cols must be/, 4400],
      ['create-connect?id=t2', ['X-Daytona-Pty-Envs~e30x'], /JSON as base64url/, 4400],
    ] as const) {
      const { notes, closed } = await dial(path, [...protocols]);
      expect(notes, path).toEqual([
        { type: 'control', status: 'error', error: expect.stringMatching(sentence) },
      ]);
      expect((await closed)[0], path).toBe(code);
    }
    expect([...rack.terminals.keys()]).toEqual(['t1']);
  });

  it('is resized by a request of its client', async () => {
    const { notes } = await dial('create-connect?id=t1&cols=100&rows=30', [EXIT]);
    const { body } = await call('POST', '/t1/resize', { cols: 90, rows: 20 });
    expect([body.cols, body.rows, rack.of('t1').size]).toEqual([90, 20, { columns: 90, rows: 20 }]);
    expect(notes).toEqual([connected]);
  });
});
