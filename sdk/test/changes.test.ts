/** Following changes, against a service that answers as scripted. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SandboxChange, Sandhaven, SandhavenError } from '../src/index.ts';
import { broken, events, problem, ScriptedService, silent, unavailable } from './scripted-service.ts';

let service: ScriptedService;
let ended: AbortController;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  ended = new AbortController();
});

afterEach(async () => {
  ended.abort();
  await service.close();
});

const ready = 'event: ready\ndata: {}\n\n';
const sandbox = 'event: sandbox\ndata: {"id":"sb_1","state":"started"}\n\n';
const deleted = 'event: sandbox_deleted\ndata: {"id":"sb_1"}\n\n';

async function first(count: number, apiKey = 'key'): Promise<SandboxChange[]> {
  const client = new Sandhaven({ url: service.url, apiKey, timeoutMs: 2_000 });
  const got: SandboxChange[] = [];
  for await (const change of client.changes({ signal: ended.signal })) {
    got.push(change);
    if (got.length === count) return got;
  }
  return got;
}

describe('usage', () => {
  it('comes to those who ask for it', async () => {
    const sandboxes = [{ id: 'sb_1', cpu: { cores: 0.5, limit: 2, percent: 25 } }];
    service.answers(events(ready, `event: usage\ndata: ${JSON.stringify({ sandboxes })}\n\n`));
    const client = new Sandhaven({ url: service.url, apiKey: 'key', timeoutMs: 2_000 });
    const changes = client.changes({ signal: ended.signal, usage: true });
    expect((await changes.next()).value).toEqual({ type: 'refresh' });
    expect((await changes.next()).value).toEqual({ type: 'usage', sandboxes });
    expect(service.asked).toMatchObject([{ method: 'GET', path: '/v1/events?usage=true' }]);
  });
});

describe('a network log', () => {
  it('comes to those who ask for it', async () => {
    const piece = { sandbox: 'sb_1', events: [{ sequence: 5, kind: 'udp' }], dropped: 0 };
    service.answers(events(ready, `event: network\ndata: ${JSON.stringify(piece)}\n\n`));
    const client = new Sandhaven({ url: service.url, apiKey: 'key', timeoutMs: 2_000 });
    const changes = client.changes({ signal: ended.signal, network: 'my box' });
    expect((await changes.next()).value).toEqual({ type: 'refresh' });
    expect((await changes.next()).value).toEqual({ type: 'network', ...piece });
    expect(service.asked).toMatchObject([{ method: 'GET', path: '/v1/events?network=my%20box' }]);
  });
});

describe('health', () => {
  it('comes to those who ask for it', async () => {
    const health = { sandboxes: { total: 2, started: 1, paused: 0 }, doctor: null };
    service.answers(events(ready, `event: health\ndata: ${JSON.stringify(health)}\n\n`));
    const client = new Sandhaven({ url: service.url, apiKey: 'key', timeoutMs: 2_000 });
    const changes = client.changes({ signal: ended.signal, health: true });
    expect((await changes.next()).value).toEqual({ type: 'refresh' });
    expect((await changes.next()).value).toEqual({ type: 'health', health });
    expect(service.asked).toMatchObject([{ method: 'GET', path: '/v1/events?health=true' }]);
  });
});

describe('changes', () => {
  it('come as they happen, with a refresh first', async () => {
    service.answers(events(ready, ': nothing new\n\n', sandbox, deleted, 'event: refresh\ndata: {}\n\n'));
    expect(await first(4)).toEqual([
      { type: 'refresh' },
      { type: 'sandbox', sandbox: { id: 'sb_1', state: 'started' } },
      { type: 'deleted', id: 'sb_1' },
      { type: 'refresh' },
    ]);
    expect(service.asked).toMatchObject([
      { method: 'GET', path: '/v1/events', headers: { authorization: 'Bearer key' } },
    ]);
  });

  it('go on after an end, a break and a refusal that passes, each time with a refresh', async () => {
    service.answers(events(ready), broken, unavailable, events(ready, sandbox));
    expect(await first(3)).toEqual([
      { type: 'refresh' },
      { type: 'refresh' },
      { type: 'sandbox', sandbox: { id: 'sb_1', state: 'started' } },
    ]);
    expect(service.asked).toHaveLength(4);
  });

  it('skip events of a newer service', async () => {
    service.answers(events(ready, 'event: other\ndata: {}\n\n', deleted));
    expect(await first(2)).toEqual([{ type: 'refresh' }, { type: 'deleted', id: 'sb_1' }]);
  });

  it('end with an error that no other attempt changes', async () => {
    service.answers(problem('unauthenticated', 401));
    const failure = await first(1).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SandhavenError);
    expect(failure).toMatchObject({ code: 'unauthenticated' });
  });

  it('end with the signal’s reason', async () => {
    service.answers(events(ready), silent());
    const reason = new Error('enough');
    const failing = first(9).catch((error: unknown) => error);
    setTimeout(() => ended.abort(reason), 300);
    expect(await failing).toBe(reason);
  });
});
