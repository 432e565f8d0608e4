/** Calls as event streams. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;

beforeAll(async () => {
  http = await startHttp();
});

afterAll(() => http.close());

const accept = { accept: 'text/event-stream' };

interface Event {
  event: string;
  data: Record<string, unknown>;
}

function parse(text: string): Event[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [event = '', data = ''] = block.split('\n');
      expect(event).toMatch(/^event: /);
      expect(data).toMatch(/^data: /);
      return { event: event.slice(7), data: JSON.parse(data.slice(6)) };
    });
}

describe('an event stream', () => {
  it('[WIRE-HTTP-04] [WIRE-SNAP-07] has progress and then one result', async () => {
    const response = await http.call('Sandbox.CreateSandbox', { name: 'sse', image: 'debian' }, accept);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    const events = parse(await response.text());
    expect(events.map(({ event }) => event)).toEqual(['progress', 'progress', 'progress', 'result']);
    expect(events[0]?.data).toEqual({ message: 'Pulling', done: 1, total: 3 });
    expect(events.at(-1)?.data).toMatchObject({ name: 'sse', state: 'started' });
  });

  it('[WIRE-HTTP-04] ends in one error, with the problem of any other transport', async () => {
    for (const [tool, parameters, code] of [
      ['Sandbox.RunCommand', { command: 'x', cpu: 1 }, 'invalid_argument'],
      ['Sandbox.Nope', {}, 'not_found'],
      ['Sandbox.RunCommand', { command: 'defect' }, 'internal'],
    ] as const) {
      const response = await http.call(tool, parameters, accept);
      const [only, ...others] = parse(await response.text());
      expect(others).toEqual([]);
      expect(only).toMatchObject({
        event: 'error',
        data: { code, request_id: response.headers.get('x-request-id') },
      });
      expect(JSON.stringify(only)).not.toContain('srv');
    }
  });

  it('is refused as plain problems where the request itself is', async () => {
    const response = await fetch(`${http.url}/v1/tools/Sandbox.WhoAmI`, { method: 'POST', headers: accept });
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('shows at once that it has begun', async () => {
    const controller = new AbortController();
    const response = await fetch(`${http.url}/v1/tools/Sandbox.RunCommand`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...accept },
      body: JSON.stringify({ command: 'sleep 40' }),
      signal: controller.signal,
    });
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? '').toString()).toMatch(/^: /);
    controller.abort();
    await expect.poll(() => http.cancelled).toContain('sleep 40');
  });

  it('keeps results whole, whatever they hold', async () => {
    const text = 'a\nb\r\n\r\u2028\u2029 event: x data: y 😀 ';
    const response = await http.call('Sandbox.RunCommand', { command: `echo ${text}` }, accept);
    expect(parse(await response.text()).at(-1)?.data).toMatchObject({ stdout: `${text}\n` });
    await sleep(0);
  });
});
