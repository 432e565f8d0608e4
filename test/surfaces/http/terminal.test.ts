/** The WebSocket of a terminal: who may open it, what passes on it, and how it ends. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { skippableTime } from '../../support/skip-time.ts';
import { API_KEY, createFakeServices, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type FakeView, fakeTerminals } from '../fakes/fake-terminals.ts';
import { type Harness, startHttp } from './http-harness.ts';

const CLOSE_GRACE_MS = 5_000;

let http: Harness;
let views: FakeView[];
const clients: WebSocket[] = [];

beforeEach(async () => {
  views = [];
  const terminals = fakeTerminals((view) => void views.push(view));
  http = await startHttp({ services: { ...createFakeServices().services, terminals } as Services });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await http.close();
});

interface Client {
  socket: WebSocket;
  /** Text messages, parsed. */
  notes: Record<string, unknown>[];
  bytes: () => string;
  closed: Promise<{ code: number; reason: string }>;
}

const path = (query = '') => `/v1/sandboxes/box/terminal${query}`;

function dial(target = path(), headers: Record<string, string> = { authorization: `Bearer ${API_KEY}` }) {
  const options = {
    headers,
    handshakeTimeout: 5_000,
    perMessageDeflate: false,
    maxPayload: 1 << 20,
  } as const;
  const socket = new WebSocket(`ws://127.0.0.1:${http.port}${target}`, options);
  clients.push(socket);
  return socket;
}

async function attach(target = path(), key = API_KEY): Promise<Client> {
  const socket = dial(target, { authorization: `Bearer ${key}` });
  const notes: Client['notes'] = [];
  const pieces: Buffer[] = [];
  socket.on('message', (data, isBinary) => {
    if (isBinary) pieces.push(data);
    else notes.push(JSON.parse(String(data)));
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  await Promise.race([once(socket, 'open'), once(socket, 'error').then(([error]) => Promise.reject(error))]);
  await expect.poll(() => notes.length).toBeGreaterThan(0);
  return { socket, notes, bytes: () => Buffer.concat(pieces).toString(), closed };
}

/** The status and the problem in place of an upgrade. */
async function refusal(target: string, headers?: Record<string, string>) {
  const socket = dial(target, headers);
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  return { status: response.statusCode, problem: JSON.parse(await text(response)) };
}

const last = () => views.at(-1) as FakeView;

describe('a team', () => {
  it('is named in the query, since browsers let no script give a WebSocket headers', async () => {
    const act = (name: string, parameters: object) =>
      fetch(`${http.url}/v1/admin/${name}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(parameters),
      });
    await act('CreateTeam', { name: 'red' });
    await act('AddTeamMember', { team: 'red', user: 'ben@example.org' });
    const { notes } = await attach(path('?team=red'), MEMBER_KEY);
    expect(notes[0]).toMatchObject({ type: 'ready' });
    expect(views.at(-1)?.caller).toMatchObject({ id: 'user_2', team: { name: 'red' } });
    const headers = { authorization: `Bearer ${API_KEY}` };
    expect(await refusal(path('?team=red'), headers)).toMatchObject({ status: 404 });
  });
});

describe('before the upgrade', () => {
  it('needs a key, and takes none from the address', async () => {
    expect(await refusal(path(), {})).toMatchObject({ status: 401, problem: { code: 'unauthenticated' } });
    expect((await refusal(path(`?api_key=${API_KEY}`), {})).status).toBe(401);
    expect((await refusal(path(), { authorization: 'Bearer wrong' })).status).toBe(401);
  });

  it('needs a known Host and no foreign Origin', async () => {
    const key = { authorization: `Bearer ${API_KEY}` };
    const foreign = await refusal(path(), { ...key, origin: 'https://evil.example' });
    expect(foreign).toMatchObject({ status: 403, problem: { code: 'permission_denied' } });
    expect((await refusal(path(), { ...key, host: 'evil.example' })).status).toBe(421);
    expect(views).toEqual([]);
  });

  it('answers for a sandbox that is none, and for parameters that are none', async () => {
    const missing = await refusal('/v1/sandboxes/nope/terminal');
    expect(missing).toMatchObject({ status: 404, problem: { code: 'not_found', resource: 'sandbox' } });
    for (const [query, parameter] of [
      ['?cols=0&rows=24', 'cols'],
      ['?cols=80&rows=5000', 'rows'],
      ['?cols=80', 'rows'],
      ['?rows=24', 'cols'],
      ['?terminal=a/b', 'terminal'],
      ['?create=maybe', 'create'],
      ['?window=100', 'window'],
      ['?window=2000000', 'window'],
      ['?cwd=', 'cwd'],
      ['?user=-ann', 'user'],
      ['?token=x', 'token'],
    ]) {
      const refused = await refusal(path(query));
      expect(refused, query).toMatchObject({ status: 400, problem: { code: 'invalid_argument', parameter } });
    }
    expect(views).toEqual([]);
  });

  it('refuses what is no handshake', async () => {
    const plain = await http.fetch(path());
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
    const raw = (lines: string[]) => {
      const head = [`GET ${path()} HTTP/1.1`, 'Host: localhost', `X-API-Key: ${API_KEY}`, ...lines];
      const socket = connect(http.port, '127.0.0.1');
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      return text(socket);
    };
    const upgrade = ['Connection: Upgrade, close', 'Upgrade: websocket'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    expect(await raw([...upgrade, 'Sec-WebSocket-Version: 13'])).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*Sec-WebSocket-Key/,
    );
    expect(await raw([...upgrade, key, 'Sec-WebSocket-Version: 7'])).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*Version/,
    );
    expect(await raw(['Connection: Upgrade, close', 'Upgrade: tcp', key])).toMatch(/^HTTP\/1\.1 426 /);
    expect(views).toEqual([]);
  });

  it('tells an ordinary request too who may look at no terminal, since browsers show no script the refusal', async () => {
    const act = async (name: string, parameters: object) => {
      const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
      const body = JSON.stringify(parameters);
      return (await fetch(`${http.url}/v1/admin/${name}`, { method: 'POST', headers, body })).json();
    };
    const ask = async (key: string, team: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${key}`, ...team };
      const answer = await fetch(http.url + path(), { headers });
      return [answer.status, ((await answer.json()) as { code: string }).code];
    };
    const made = (await act('CreateKey', { name: 'reads', scopes: ['sandboxes:read'] })) as {
      api_key: string;
    };
    expect(await ask(made.api_key)).toEqual([403, 'permission_denied']);
    await act('CreateTeam', { name: 'red' });
    await act('AddTeamMember', { team: 'red', user: 'ben@example.org', role: 'viewer' });
    expect(await ask(MEMBER_KEY, { 'sandhaven-team': 'red' })).toEqual([403, 'permission_denied']);
    expect(await ask(MEMBER_KEY)).toEqual([426, 'invalid_argument']);
    await Promise.all(Array.from({ length: 64 }, () => attach()));
    expect(await ask(API_KEY)).toEqual([429, 'resource_exhausted']);
    expect(await ask(MEMBER_KEY)).toEqual([426, 'invalid_argument']);
  });

  it('is the only route that a WebSocket can be asked of', async () => {
    const socket = connect(http.port, '127.0.0.1');
    socket.write(
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n',
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('has a share for each user, so that another goes on', async () => {
    await Promise.all(Array.from({ length: 64 }, () => attach()));
    const refused = await refusal(path());
    expect(refused).toMatchObject({ status: 429, problem: { code: 'resource_exhausted', retryable: true } });
    const other = await attach(path(), MEMBER_KEY);
    other.socket.close(1000);
    clients[0]?.close(1000);
    await expect.poll(() => views[0]?.detached).toBe(true);
    await expect
      .poll(() =>
        attach().then(
          () => 'in',
          () => 'out',
        ),
      )
      .toBe('in');
  });
});

describe('on the way', () => {
  it('begins with what the terminal is', async () => {
    const { notes } = await attach(path('?terminal=build&cols=132&rows=43&cwd=src&user=ann'));
    expect(last().request).toEqual({
      ...{ terminalId: 'build', size: { columns: 132, rows: 43 }, create: true, cwd: 'src', user: 'ann' },
    });
    expect(notes).toEqual([
      {
        ...{ type: 'ready', terminal: 'build', created: true, created_at: '2023-11-14T22:13:20.123Z' },
        ...{ cols: 132, rows: 43, scrollback_bytes: 7 },
      },
    ]);
    await attach(path('?create=false'));
    expect(last().request).toEqual({ terminalId: 'main', size: null, create: false });
  });

  it('carries bytes both ways as they are, and notes in their place', async () => {
    const { socket, notes, bytes } = await attach();
    const { input } = last();
    socket.send(Buffer.from([0xff, 0, 13]), { binary: true });
    expect((await once(input, 'data'))[0]).toEqual(Buffer.from([0xff, 0, 13]));
    expect(last().sink?.data(Buffer.from('a\r\n'))).toBe(true);
    last().sink?.skipped(4_096);
    last().sink?.resized({ columns: 60, rows: 20 });
    socket.send('{"type":"resize","cols":100,"rows":30}', { binary: false });
    await expect.poll(() => last().sizes).toEqual([{ columns: 100, rows: 30 }]);
    expect(notes.slice(1)).toEqual([
      { type: 'skipped', bytes: 4_096 },
      { type: 'size', cols: 60, rows: 20 },
    ]);
    expect(bytes()).toBe('a\r\n');
  });

  it('stops the agent for a client that does not read, and goes on with it', async () => {
    const { socket } = await attach();
    socket.pause();
    const view = last();
    let given = 0;
    while (view.sink?.data(Buffer.alloc(65_536)) && given < 64_000_000) {
      given += 65_536;
      if (given % 1_048_576 === 0) await sleep(1);
    }
    expect(given).toBeLessThan(32_000_000);
    expect(view.resumed).toBe(0);
    socket.resume();
    await expect.poll(() => view.resumed).toBeGreaterThan(0);
  });

  it('sends a window of bytes, and more once the client has shown some', async () => {
    const { socket, bytes } = await attach(path('?window=65536'));
    const view = last();
    const sent = [0, 1, 2].map(() => view.sink?.data(Buffer.alloc(30_000)));
    expect(sent).toEqual([true, true, false]);
    await expect.poll(() => bytes().length).toBe(90_000);
    socket.send('{"type":"shown","bytes":30000}', { binary: false });
    await expect.poll(() => view.sink?.resized({ columns: 80, rows: 24 })).toBe(false);
    expect(view.resumed).toBe(0);
    socket.send('{"type":"shown","bytes":60000}', { binary: false });
    await expect.poll(() => view.resumed).toBe(1);
    expect(view.sink?.data(Buffer.alloc(30_000))).toBe(true);
  });

  it('reads no more of a client than the program does', async () => {
    const { socket } = await attach();
    for (let sent = 0; sent < 512; sent++) socket.send(Buffer.alloc(65_536), { binary: true });
    await sleep(300);
    expect(last().input.readableLength + last().input.writableLength).toBeLessThan(1_000_000);
    let read = 0;
    last().input.on('data', (piece: Buffer) => {
      read += piece.length;
    });
    await expect.poll(() => read).toBe(512 * 65_536);
  });
});

describe('the end', () => {
  it('is 1000 with the exit of the shell, behind all that it printed', async () => {
    const { notes, bytes, closed } = await attach();
    last().sink?.data(Buffer.from('logout'));
    last().end(137, 'SIGKILL');
    expect(await closed).toEqual({ code: 1000, reason: 'The shell has ended.' });
    expect(notes.at(-1)).toEqual({ type: 'exit', code: 137, signal: 'SIGKILL' });
    expect(bytes()).toBe('logout');
  });

  it('is 4000 and the status of an error, which comes before', async () => {
    const { notes, closed } = await attach();
    last().fail(
      new SandhavenError('invalid_state', "Sandbox 'box' was stopped while it was being worked in."),
    );
    expect(await closed).toEqual({ code: 4409, reason: 'Invalid state' });
    expect(notes.at(-1)).toMatchObject({ type: 'error', code: 'invalid_state', status: 409 });
  });

  it('is 1011 for a defect, of which the log alone has the cause', async () => {
    const { notes, closed } = await attach();
    last().fail(new Error('secret cause'));
    expect(await closed).toMatchObject({ code: 1011 });
    expect(JSON.stringify(notes)).not.toContain('secret');
    expect(http.log.some(({ level }) => level === 'error')).toBe(true);
  });

  it('is 1008 when the key is revoked', async () => {
    const { notes, closed } = await attach(path(), MEMBER_KEY);
    await http.fetch('/v1/admin/DisableUser', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'ben@example.org' }),
    });
    expect(await closed).toMatchObject({ code: 1008 });
    expect(notes.at(-1)).toMatchObject({ type: 'error', code: 'unauthenticated' });
    expect(last().detached).toBe(true);
  });

  it('is 1001 when the service stops, which waits for no client', async () => {
    const { closed } = await attach();
    const deaf = await attach();
    deaf.socket.pause();
    const skip = skippableTime();
    const stopped = http.stop();
    expect(await closed).toEqual({ code: 1001, reason: 'The service is stopping.' });
    await skip(CLOSE_GRACE_MS);
    await stopped;
    expect(views.every(({ detached }) => detached)).toBe(true);
  });

  it('detaches a client that leaves, with or without a word', async () => {
    const [polite, rude] = [await attach(), await attach()];
    polite.socket.close(1000);
    rude.socket.terminate();
    await expect.poll(() => views.map(({ detached }) => detached)).toEqual([true, true]);
  });
});

describe('a client that breaks the rules', () => {
  it.each([
    ['no JSON', 'hello'],
    ['another message', '{"type":"kill"}'],
    ['a size that is none', '{"type":"resize","cols":0,"rows":24}'],
    ['a field too many', '{"type":"resize","cols":80,"rows":24,"x":1}'],
    ['bytes shown that were never sent', '{"type":"shown","bytes":1}'],
    ['no bytes shown', '{"type":"shown","bytes":0}'],
    ['a list', '[]'],
    ['much text', JSON.stringify({ type: 'x'.repeat(5_000) })],
  ])('gets 4400 for %s', async (_what, message) => {
    const { socket, notes, closed } = await attach();
    socket.send(message, { binary: false });
    expect(await closed).toMatchObject({ code: 4400 });
    expect(notes.at(-1)).toMatchObject({ type: 'error', code: 'invalid_argument', hint: expect.any(String) });
  });

  it('gets both messages that there are in the hint, and how its report was wrong', async () => {
    const [stranger, boaster] = [await attach(), await attach()];
    stranger.socket.send('{"type":"kill"}', { binary: false });
    await stranger.closed;
    expect(stranger.notes.at(-1)?.['hint']).toBe(
      'Send {"type":"resize","cols":80,"rows":24} or {"type":"shown","bytes":4096}; what is typed comes in binary messages.',
    );
    boaster.socket.send('{"type":"shown","bytes":1}', { binary: false });
    await boaster.closed;
    expect(boaster.notes.at(-1)?.['detail']).toBe('More bytes were reported than were sent.');
  });

  it('gets 1009 for a message that is too large', async () => {
    const { socket, closed } = await attach();
    socket.send(Buffer.alloc(262_145), { binary: true });
    expect(await closed).toMatchObject({ code: 1009 });
  });
});
