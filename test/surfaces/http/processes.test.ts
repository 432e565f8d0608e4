/** Actions on processes, and the stream of one's output: who may see it, what comes in it, and how it ends. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { type FakeProcessView, fakeProcesses } from '../fakes/fake-processes.ts';
import { API_KEY, createFakeServices } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;
let views: FakeProcessView[];
let processes: ReturnType<typeof fakeProcesses>;

beforeEach(async () => {
  views = [];
  processes = fakeProcesses((view) => {
    views.push(view);
    view.sink.begun(view.from ?? 0);
  });
  http = await startHttp({
    services: { ...createFakeServices().services, processes } as unknown as Services,
  });
});

afterEach(() => http.close());

const path = (process = 'web', query = '') => `/v1/sandboxes/box/processes/${process}/output${query}`;
const last = () => views.at(-1) as FakeProcessView;

async function act(name: string, parameters: object) {
  const response = await http.fetch(`/v1/admin/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sandbox: 'box', ...parameters }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const eventsOf = (text: string) =>
  [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, event, data = '']) => [event, JSON.parse(data)]);

describe('the stream of a process', () => {
  it('begins with the position, has each piece as it is, and ends with the end of the process', async () => {
    const answer = http.fetch(path('7', '?from=40'));
    await expect.poll(() => views).toHaveLength(1);
    expect(last()).toMatchObject({ process: '7', from: 40 });
    last().sink.show({ stream: 'stdout', bytes: Buffer.from('ff00', 'hex'), leftOutBytes: 0 });
    last().sink.show({ stream: 'stderr', bytes: Buffer.from('é'), leftOutBytes: 0 });
    last().end.resolve({ exitCode: 137, signal: 'SIGKILL', timedOut: true });
    const response = await answer;
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(eventsOf(await response.text())).toEqual([
      ['begin', { from: 40 }],
      ['output', { stream: 'stdout', base64: '/wA=' }],
      ['output', { stream: 'stderr', base64: 'w6k=' }],
      ['result', { exit_code: 137, signal: 'SIGKILL', timed_out: true }],
    ]);
  });

  it('has an error that comes later as its last event', async () => {
    const answer = http.fetch(path());
    await expect.poll(() => views).toHaveLength(1);
    last().end.reject(new SandhavenError('invalid_state', 'It was stopped.'));
    const events = eventsOf(await (await answer).text());
    expect(events.map(([event]) => event)).toEqual(['begin', 'error']);
    expect(events[1]?.[1]).toMatchObject({ code: 'invalid_state', status: 409 });
  });

  it('is a problem with its status where it does not begin', async () => {
    expect((await http.fetch(path('nope'))).status).toBe(404);
    for (const wrong of [path('-x'), path('12345678'), path('7', '?from=-1'), path('7', '?from=1e3')]) {
      expect((await http.fetch(wrong)).status, wrong).toBe(400);
    }
    expect((await http.fetch(path('7', '?from=4503599627370497'))).status).toBe(400);
    expect((await fetch(`${http.url}${path()}`)).status).toBe(401);
    expect(views).toEqual([]);
  });

  it('makes the process wait for a client that does not read, and leaves it with the client', async () => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    const request = get(`${http.url}${path()}`, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    const piece = { stream: 'stdout', bytes: Buffer.alloc(128 << 10), leftOutBytes: 0 } as const;
    let room: Promise<unknown> | undefined;
    for (let pieces = 0, isHeld = false; !isHeld && pieces < 1_000; pieces++) {
      room = last().sink.show(piece);
      isHeld = await Promise.race([Promise.resolve(room).then(() => false), sleep(200, true)]);
    }
    let hasRoom = false;
    void room?.then(() => {
      hasRoom = true;
    });
    await sleep(50);
    expect([room === undefined, hasRoom]).toEqual([false, false]);
    request.destroy();
    await expect.poll(() => [hasRoom, last().signal.aborted]).toEqual([true, true]);
  });

  it('has 256 viewers of one user', async () => {
    const answers = Array.from({ length: 256 }, () => http.fetch(path()));
    await expect.poll(() => views).toHaveLength(256);
    const refused = await http.fetch(path());
    expect(refused.status).toBe(429);
    for (const { end } of views) end.resolve({ exitCode: 0, signal: null, timedOut: false });
    await Promise.all(answers.map(async (answer) => (await answer).text()));
    const again = http.fetch(path());
    await expect.poll(() => views).toHaveLength(257);
    last().end.resolve({ exitCode: 0, signal: null, timedOut: false });
    expect((await again).status).toBe(200);
  });

  it('ends with a stop of the service, and says that the process goes on', async () => {
    const answer = http.fetch(path());
    await expect.poll(() => views).toHaveLength(1);
    const stopped = http.stop();
    const events = eventsOf(await (await answer).text());
    expect(events.at(-1)).toMatchObject(['error', { code: 'unavailable', retryable: true }]);
    await stopped;
    expect(http.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('actions', () => {
  it('start a process, with a terminal where both cols and rows are given', async () => {
    const started = await act('StartProcess', {
      command: 'make',
      tag: 'w',
      cols: 80,
      rows: 24,
      env: { A: '1' },
    });
    expect(started).toEqual({
      status: 200,
      body: {
        ...{ process: '7', pid: 7, tag: 'w', command: 'make', status: 'running' },
        ...{ started_at: '2023-11-14T22:13:20.123Z', ended_at: null, exit_code: null, signal: null },
        ...{ timed_out: false, viewers: 1, output_bytes: 12, cols: 80, rows: 24 },
      },
    });
    expect(processes.calls).toEqual([['start', { env: { A: '1' }, timeoutMs: 86_400_000 }]]);
    for (const [wrong, parameter] of [
      [{ cols: 80 }, 'rows'],
      [{ rows: 24 }, 'cols'],
      [{ tag: '1a' }, 'tag'],
      [{ tag: `a${'b'.repeat(64)}` }, 'tag'],
      [{ timeout_seconds: 0 }, 'timeout_seconds'],
      [{ timeout_seconds: 86_401 }, 'timeout_seconds'],
      [{ command: '' }, 'command'],
    ] as const) {
      expect(await act('StartProcess', { command: 'make', ...wrong })).toMatchObject({
        ...{ status: 400 },
        body: { parameter },
      });
    }
  });

  it('list those that run and those that have ended', async () => {
    const { body } = await act('ListProcesses', {});
    expect(body['processes']).toMatchObject([
      { process: '7', tag: 'web', status: 'running', exit_code: null, cols: null },
      {
        ...{ process: '8', tag: null, status: 'ended', exit_code: 137, signal: 'SIGKILL', timed_out: true },
        ...{ ended_at: '2023-11-14T22:13:21.123Z', cols: 80, rows: 24 },
      },
    ]);
  });

  it('send input as text and as base64, and close it', async () => {
    expect((await act('SendProcessInput', { process: 'web', input: 'é\n' })).body).toEqual({
      ...{ process: 'web', bytes_written: 3 },
    });
    await act('SendProcessInput', { process: '7', input: '/wA=', encoding: 'base64', close_input: true });
    await act('SendProcessInput', { process: '7', close_input: true });
    expect(processes.calls).toEqual([
      ['write', { process: 'web', close: false }, 'c3a90a'],
      ['write', { process: '7', close: true }, 'ff00'],
      ['write', { process: '7', close: true }, ''],
    ]);
    const most = 'x'.repeat(1_048_576);
    expect((await act('SendProcessInput', { process: '7', input: most })).status).toBe(200);
    expect((await act('SendProcessInput', { process: '7', input: `${most}x` })).status).toBe(400);
    expect(
      (await act('SendProcessInput', { process: '7', input: '*', encoding: 'base64' })).body,
    ).toMatchObject({
      parameter: 'input',
    });
  });

  it('signal, resize and end', async () => {
    await act('SignalProcess', { process: 'web', signal: 'TERM' });
    await act('ResizeProcess', { process: 'web', cols: 132, rows: 43 });
    await act('EndProcess', { process: 'web' });
    expect(processes.calls).toEqual([
      ['signal', 'web', 'TERM'],
      ['resize', 'web', { columns: 132, rows: 43 }],
      ['end', 'web'],
    ]);
  });
});
