/** Sessions of Daytona's clients: their commands, their logs in the form of each generation, and what follows by a WebSocket. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { LiveOutput } from '../../../src/control/ports/index.ts';
import { notFound } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const NEW = { 'x-daytona-sdk-version': '0.218.0' };
const OLD = { 'x-daytona-sdk-version': '0.143.0' };

let http: Harness;

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
});

afterEach(() => http.close());

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = NEW) {
  const response = await http.fetch(`/daytona/toolbox/box/process/session${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, body: isJson ? JSON.parse(answer) : answer };
}

const newSession = () => call('POST', '', { sessionId: 's1' });

describe('sessions', () => {
  it('are made, listed, shown and deleted', async () => {
    expect((await newSession()).status).toBe(201);
    await call('POST', '/s1/exec', { command: 'one' });
    await call('POST', '/s1/exec', { command: 'two', runAsync: true });
    const session = {
      sessionId: 's1',
      commands: [
        { id: 'cmd_1', command: 'one', exitCode: 0 },
        { id: 'cmd_2', command: 'two' },
      ],
    };
    expect(await call('GET', '')).toEqual({ status: 200, body: [session] });
    expect(await call('GET', '/s1')).toEqual({ status: 200, body: session });
    expect(await call('DELETE', '/s1')).toEqual({ status: 204, body: '' });
    expect((await call('GET', '/s1')).status).toBe(404);
    expect((await call('DELETE', '/s1')).status).toBe(404);
    expect((await call('POST', '', { sessionId: 'a b' })).status).toBe(400);
  });

  it('have none of an entrypoint', async () => {
    const none = { sessionId: 'entrypoint', commands: [] };
    expect((await call('GET', '/entrypoint')).body).toEqual(none);
    expect((await call('GET', '/entrypoint/logs')).body).toEqual({ output: '', stdout: '', stderr: '' });
    expect((await call('GET', '/entrypoint/logs', undefined, OLD)).body).toBe('');
  });
});

describe('commands', () => {
  beforeEach(newSession);

  it('answer with their output, or at once', async () => {
    expect(await call('POST', '/s1/exec', { command: 'one' })).toEqual({
      status: 200,
      body: { cmdId: 'cmd_1', output: 'one\n', stdout: 'one\n', stderr: '', exitCode: 0 },
    });
    for (const wish of [{ runAsync: true }, { async: true }]) {
      const { status, body } = await call('POST', '/s1/exec', { command: 'two', ...wish });
      expect([status, body]).toEqual([202, { cmdId: expect.stringMatching(/^cmd_/) }]);
    }
    expect((await call('GET', '/s1/command/cmd_2')).body).toEqual({ id: 'cmd_2', command: 'two' });
    expect((await call('GET', '/s1/command/cmd_9')).status).toBe(404);
    expect((await call('POST', '/nope/exec', { command: 'one' })).status).toBe(404);
  });

  it('have logs as JSON, and for old clients as text with marks', async () => {
    const logs = { status: 'completed', exitCode: 0, truncated: false, nextOffset: 0 };
    Object.assign(http.services.sessions, {
      logs: async () => ({ ...logs, output: 'one\ntwo\n', stdout: 'one\n', stderr: 'two\n' }),
    });
    const path = '/s1/command/cmd_1/logs';
    const apart = { output: 'one\ntwo\n', stdout: 'one\n', stderr: 'two\n' };
    const marked = '\u0001\u0001\u0001one\n\u0002\u0002\u0002two\n';
    for (const version of ['0.167.0', '0.218.0-alpha.1', '1.0.0']) {
      const { body } = await call('GET', path, undefined, { 'x-daytona-sdk-version': version });
      expect(body, version).toEqual(apart);
    }
    for (const version of ['0.143.0', '0.166.9', 'none']) {
      const { body } = await call('GET', path, undefined, { 'x-daytona-sdk-version': version });
      expect(body, version).toBe(marked);
    }
    expect((await call('GET', path, undefined, {})).body).toBe(marked);
    const { body } = await call('POST', '/s1/exec', { command: 'one' }, OLD);
    expect(body).toEqual({ cmdId: 'cmd_1', ...apart, output: marked, exitCode: 0 });
  });

  it('get input as it is', async () => {
    const sent: unknown[] = [];
    Object.assign(http.services.sessions, {
      async sendInput(_caller: unknown, _reference: unknown, request: unknown) {
        sent.push(request);
        return null;
      },
    });
    const path = '/s1/command/cmd_1/input';
    expect(await call('POST', path, { data: 'yes\n' })).toEqual({ status: 204, body: '' });
    await call('POST', path, { data: 'y' });
    const command = { sessionId: 's1', commandId: 'cmd_1', waitMs: 0 };
    expect(sent).toEqual([
      { ...command, input: 'yes', asIs: false },
      { ...command, input: 'y', asIs: true },
    ]);
    expect((await call('POST', path, { data: 1 })).status).toBe(400);
    expect((await call('POST', path, { data: 'x'.repeat(65_537) })).status).toBe(400);
  });

  it('have no exit code while they run over the longest wait', async () => {
    Object.assign(http.services.sessions, {
      run: async () => ({ commandId: 'cmd_1', status: 'running', exitCode: null, output: 'half' }),
    });
    const answer = await call('POST', '/s1/exec', { command: 'one' });
    expect(answer).toEqual({ status: 202, body: { cmdId: 'cmd_1' } });
  });
});

describe('logs by a WebSocket', () => {
  interface Asked {
    offset: number;
    waitMs: number;
    streams?: boolean;
    live?: LiveOutput;
  }
  let follow: (asked: Asked, signal?: AbortSignal) => Promise<object>;
  const completed = { status: 'completed', exitCode: 0, output: '', truncated: false };

  beforeEach(() => {
    Object.assign(http.services.sessions, {
      async follow(_caller: unknown, reference: string, asked: Asked, signal?: AbortSignal) {
        if (reference === 'nope') throw notFound('sandbox', "There is no sandbox 'nope'.");
        return follow(asked, signal);
      },
    });
  });

  function dial(path = 'box/process/session/s1/command/cmd_1/logs?follow=true', key = API_KEY) {
    const socket = new WebSocket(`ws://127.0.0.1:${http.port}/daytona/toolbox/${path}`, {
      ...{ headers: { authorization: `Bearer ${key}` }, handshakeTimeout: 5_000 },
      ...{ perMessageDeflate: false, maxPayload: 1 << 20 },
    });
    const messages: Buffer[] = [];
    socket.on('message', (data, isBinary) => messages.push(isBinary ? data : Buffer.from('text')));
    const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)]);
    return { socket, messages, closed };
  }

  it('come as pieces behind the mark of their stream, until the command ends', async () => {
    const asked: Omit<Asked, 'live'>[] = [];
    follow = async ({ live, ...rest }) => {
      asked.push(rest);
      if (rest.offset === 0) {
        await live?.show({ stream: 'stdout', bytes: Buffer.from('one'), leftOutBytes: 0 });
        await live?.show({ stream: 'stderr', bytes: Buffer.from([0xc3]), leftOutBytes: 0 });
        return { ...completed, status: 'running', output: 'one?', nextOffset: 4 };
      }
      if (rest.offset > 4) return { ...completed, status: 'running', nextOffset: 4 };
      await live?.show({ stream: 'stderr', bytes: Buffer.from([0xa9]), leftOutBytes: 7 });
      return { ...completed, output: '?', nextOffset: 12 };
    };
    const { messages, closed } = dial();
    expect(await closed).toEqual([1000, 'The command has ended.']);
    const [OUT, ERR] = ['\u0001\u0001\u0001', '\u0002\u0002\u0002'];
    expect(Buffer.concat(messages)).toEqual(
      Buffer.concat([
        Buffer.from(`${OUT}one${ERR}`),
        Buffer.from([0xc3]),
        Buffer.from(`${ERR}\n[… 7 bytes left out …]\n`),
        Buffer.from([0xa9]),
      ]),
    );
    expect(asked).toEqual([
      { ...{ sessionId: 's1', commandId: 'cmd_1' }, offset: 2 ** 52, waitMs: 0 },
      { ...{ sessionId: 's1', commandId: 'cmd_1' }, offset: 0, waitMs: 500, streams: true },
      { ...{ sessionId: 's1', commandId: 'cmd_1' }, offset: 4, waitMs: 500, streams: true },
    ]);
  });

  it('come as text where a stop has kept no more', async () => {
    follow = async ({ offset }) => ({ ...completed, output: offset === 0 ? 'kept' : '', nextOffset: 4 });
    const { messages, closed } = dial();
    await closed;
    expect(Buffer.concat(messages).toString()).toBe('\u0001\u0001\u0001kept');
  });

  it('are refused before the upgrade', async () => {
    follow = async () => {
      throw notFound('command', "There is no command 'cmd_1'.");
    };
    const refusal = async (path?: string, key?: string) => {
      const { socket } = dial(path, key);
      socket.on('error', () => {});
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      return [response.statusCode, JSON.parse(await text(response)).source];
    };
    expect(await refusal()).toEqual([404, 'DAYTONA_DAEMON']);
    expect(await refusal('nope/process/session/s1/command/cmd_1/logs?follow=true')).toEqual([
      404,
      'DAYTONA_DAEMON',
    ]);
    expect(await refusal(undefined, 'wrong')).toEqual([401, 'DAYTONA_DAEMON']);
  });

  it('are read no more once the client has left', async () => {
    let left = false;
    follow = async ({ offset, waitMs }, signal) => {
      if (waitMs === 0) return { ...completed, status: 'running', nextOffset: 0 };
      await sleep(60_000, undefined, signal ? { signal } : {}).catch((error: unknown) => {
        left = true;
        throw error;
      });
      return { ...completed, nextOffset: offset };
    };
    const { socket } = dial();
    await once(socket, 'open');
    socket.terminate();
    await expect.poll(() => left).toBe(true);
  });

  it('hold their reader up while the client does not read', async () => {
    let shown = 0;
    follow = async ({ live }) => {
      for (; live && shown < 8_192; shown++) {
        await live.show({ stream: 'stdout', bytes: Buffer.alloc(16_384), leftOutBytes: 0 });
      }
      return { ...completed, nextOffset: 1 };
    };
    const { socket, closed } = dial();
    await once(socket, 'open');
    socket.pause();
    await expect.poll(() => shown).toBeGreaterThan(16);
    await sleep(100);
    const held = shown;
    await sleep(200);
    expect(shown).toBe(held);
    expect(held).toBeLessThan(8_192);
    socket.resume();
    expect(await closed).toEqual([1000, 'The command has ended.']);
    expect(shown).toBe(8_192);
  });

  it('of an entrypoint end at once', async () => {
    const { messages, closed } = dial('box/process/session/entrypoint/logs?follow=true');
    expect(await closed).toEqual([1000, 'The command has ended.']);
    expect(messages).toEqual([]);
  });

  it('end with a reason when the service stops', async () => {
    follow = async ({ waitMs }, signal) => {
      if (waitMs > 0) await sleep(60_000, undefined, signal ? { signal } : {});
      return { ...completed, status: 'running', nextOffset: 0 };
    };
    const { socket, closed } = dial();
    await once(socket, 'open');
    await http.stop();
    expect(await closed).toEqual([1001, 'The service is stopping.']);
  });
});
