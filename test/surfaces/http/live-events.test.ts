/** GET /v1/events: the stream of changes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { skippableTime } from '../../support/skip-time.ts';
import { API_KEY, MEMBER_KEY, user } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

const HEALTH_EVENT_MS = 5_000;

let http: Harness;
const opened: AbortController[] = [];
/** Of the server. */
const connections = new Set<Socket>();

beforeAll(async () => {
  http = await startHttp();
  http.server.on('connection', (socket) => connections.add(socket));
});

afterAll(async () => {
  for (const stream of opened) stream.abort();
  await http.close();
});

interface Stream {
  response: Response;
  next(): Promise<{ event: string; data: Record<string, unknown> }>;
  end(): void;
}

async function open(headers: Record<string, string> = {}, query = ''): Promise<Stream> {
  const ended = new AbortController();
  opened.push(ended);
  const response = await http.fetch(`/v1/events${query}`, { headers, signal: ended.signal });
  const blocks = blocksOf(response);
  return {
    response,
    end: () => ended.abort(),
    async next() {
      for (;;) {
        const { value } = await blocks.next();
        if (value === undefined) throw new Error('the stream has ended');
        const [, event, data] = /^event: (\S+)\ndata: (.*)$/s.exec(value) ?? [];
        if (event && data) return { event, data: JSON.parse(data) };
      }
    },
  };
}

async function* blocksOf(response: Response): AsyncGenerator<string> {
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    yield* blocks;
  }
}

/** Changes of all of them, as one turn tells them. */
async function writeAll(ids: string[]): Promise<void> {
  for (const id of ids) http.services.events.wrote(id);
  await sleep(120);
}

async function create(name: string): Promise<string> {
  const answer = await http.call('Sandbox.CreateSandbox', { name });
  const { id } = (await answer.json()) as { id: string };
  http.services.events.wrote(id);
  return id;
}

describe('a stream of changes', () => {
  it('has snapshots for who asks for them, and how far they are', async () => {
    const [stream, plain] = [await open({}, '?snapshots=true'), await open()];
    for (const one of [stream, plain]) expect((await one.next()).event).toBe('ready');
    const { snapshotEvents, snapshots } = http.services;
    const made = await snapshots.create(user, { name: 'tools', image: 'debian:13' } as never);
    snapshotEvents.changed({ ...made, ownerId: user.id });
    expect(await stream.next()).toMatchObject({ event: 'snapshot', data: { id: made.id, name: 'tools' } });
    snapshotEvents.progress({ ...made, ownerId: user.id }, { message: 'Fetching', done: 5, total: 9 });
    expect(await stream.next()).toEqual({
      event: 'snapshot_progress',
      data: { id: made.id, message: 'Fetching', done_bytes: 5, total_bytes: 9 },
    });
    snapshotEvents.gone({ ...made, ownerId: user.id });
    expect(await stream.next()).toEqual({ event: 'snapshot_deleted', data: { id: made.id } });
    const id = await create('after-snapshots');
    expect(await plain.next()).toMatchObject({ event: 'sandbox', data: { id } });
    for (const one of [stream, plain]) one.end();
  });

  it('begins with ready, then has each change and each deletion', async () => {
    const stream = await open();
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await stream.next()).toEqual({ event: 'ready', data: {} });
    const id = await create('watched');
    expect(await stream.next()).toMatchObject({
      event: 'sandbox',
      data: { id, name: 'watched', state: 'started', last_activity_at: expect.any(String) },
    });
    http.sandboxes.delete(id);
    http.services.events.wrote(id);
    expect(await stream.next()).toEqual({ event: 'sandbox_deleted', data: { id } });
    http.services.events.missed();
    expect(await stream.next()).toEqual({ event: 'refresh', data: {} });
    stream.end();
  });

  it('has what started sandboxes use for those who ask for it', async () => {
    const id = await create('busy');
    const stream = await open({}, '?usage=true');
    const uses = async () => {
      for (;;) {
        const { event, data } = await stream.next();
        if (event === 'usage') return data['sandboxes'] as Record<string, unknown>[];
      }
    };
    const figures = await uses();
    expect(figures.find((one) => one['id'] === id)).toEqual({
      id,
      cpu: { cores: null, limit: 2, percent: null },
      memory: { bytes: 5_000_000, limit_bytes: 4_294_967_296 },
      disk: { bytes: 90_000_000, limit_bytes: 21_474_836_480 },
    });
    stream.end();
  });

  it('has new rows of the audit log for those who ask: an admin all, a member their own', async () => {
    const asMember = { authorization: `Bearer ${MEMBER_KEY}` };
    const [admin, member] = [await open({}, '?audit=true'), await open(asMember, '?audit=true')];
    const actionsOf = async (stream: Stream, last: string) => {
      const seen: string[] = [];
      while (!seen.includes(last)) {
        const { event, data } = await stream.next();
        if (event !== 'audit') continue;
        for (const { action, user_id } of data['rows'] as { action: string; user_id: string }[])
          seen.push(action, user_id);
      }
      return seen;
    };
    await http.call('Sandbox.WhoAmI', {});
    await http.call('Sandbox.ListRegions', {}, asMember);
    const hers = await actionsOf(admin, 'Sandbox.ListRegions');
    expect(hers).toContain('Sandbox.WhoAmI');
    expect(hers).toContain('user_2');
    const his = await actionsOf(member, 'Sandbox.ListRegions');
    expect(his).not.toContain('Sandbox.WhoAmI');
    expect(his).not.toContain('user_1');
    for (const stream of [admin, member]) stream.end();
  });

  it('has the health of the service for an admin who asks for it, until the stream ends', async () => {
    const { healthEvents } = http.services;
    const view = healthEvents.view.bind(healthEvents);
    let ended = 0;
    vi.spyOn(healthEvents, 'view').mockImplementation((...given) => {
      const end = view(...given);
      return () => {
        ended++;
        end();
      };
    });
    const skip = skippableTime();
    const stream = await open({}, '?health=true');
    const healths = async () => {
      for (;;) {
        const { event, data } = await stream.next();
        if (event === 'health') return data;
      }
    };
    const first = await healths();
    expect(Object.keys(first)).toEqual(['capacity', 'sandboxes', 'pool', 'samples', 'doctor']);
    expect(first).toMatchObject({
      capacity: { free_memory_bytes: 8_000_000_000, free_slots: 100 },
      sandboxes: { total: 2, started: 1, paused: 1 },
      pool: { ready: 1, min: 2, max: 5 },
      samples: [{ time: expect.any(String), free_disk_bytes: 50_000_000_000 }],
    });
    const second = healths();
    await skip(HEALTH_EVENT_MS);
    expect(await second).toMatchObject({
      doctor: {
        findings: [
          { name: 'cgroups', status: 'ok' },
          { name: 'disk', advice: 'Watch the free space.' },
        ],
      },
    });
    expect(ended).toBe(0);
    stream.end();
    await expect.poll(() => ended).toBe(1);
  });

  it('refuses the health of the service to a member, and to a key without the scope admin', async () => {
    const asMember = { authorization: `Bearer ${MEMBER_KEY}` };
    const narrow = await http.fetch('/v1/admin/CreateKey', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'narrow', scopes: ['sandboxes:read'] }),
    });
    const { api_key } = (await narrow.json()) as { api_key: string };
    for (const headers of [asMember, { authorization: `Bearer ${api_key}` }]) {
      const refused = await http.fetch('/v1/events?health=true', { headers });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ code: 'permission_denied', hint: expect.any(String) });
    }
  });

  it('refuses a parameter that it does not know', async () => {
    expect((await http.fetch('/v1/events?usage=often')).status).toBe(400);
  });

  it('shows no environment variable', async () => {
    const stream = await open();
    await stream.next();
    const id = await create('secretive');
    const sandbox = http.sandboxes.get(id);
    if (sandbox) sandbox.envVars = { TOKEN: 'hunter2' };
    expect(JSON.stringify(await stream.next())).not.toContain('hunter2');
    stream.end();
  });

  it('has nothing of another user', async () => {
    const member = await open({ authorization: `Bearer ${MEMBER_KEY}` });
    await member.next();
    const id = await create('not-theirs');
    const owner = await open();
    await owner.next();
    http.services.events.wrote(id);
    expect(await owner.next()).toMatchObject({ data: { id } });
    http.services.events.missed();
    expect(await member.next()).toEqual({ event: 'refresh', data: {} });
    member.end();
    owner.end();
  });

  it('needs a key', async () => {
    expect((await fetch(`${http.url}/v1/events`)).status).toBe(401);
  });

  it('is refused above 16 of one user; another user has one all the same', async () => {
    const streams = await Promise.all(Array.from({ length: 16 }, () => open()));
    for (const stream of streams) await stream.next();
    const refused = await http.fetch('/v1/events');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'resource_exhausted', retryable: true });
    const other = await open({ authorization: `Bearer ${MEMBER_KEY}` });
    expect(await other.next()).toEqual({ event: 'ready', data: {} });
    for (const stream of [...streams, other]) stream.end();
    await expect.poll(async () => (await open()).response.status).toBe(200);
  });

  it('gives a client that does not read a refresh in place of what it missed', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => create(`large-${n}`)));
    for (const id of ids) {
      const sandbox = http.sandboxes.get(id);
      if (sandbox) sandbox.labels = { large: 'x'.repeat(30_000) };
    }
    const socket = connect(http.port, '127.0.0.1');
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`);
    await once(socket, 'readable');
    const held = () => Math.max(0, ...[...connections].map(({ writableLength }) => writableLength));
    // Until the kernel takes no more.
    for (let turn = 0; turn < 100 && held() === 0; turn++) await writeAll(ids);
    expect(held()).toBeGreaterThan(0);
    const before = held();
    for (let turn = 0; turn < 5; turn++) await writeAll(ids);
    expect(held() - before).toBeLessThan(100_000);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > 200_000) text = text.slice(-100_000);
    });
    await expect.poll(() => text).toContain('event: refresh\ndata: {}\n\n');
    socket.destroy();
  });

  it('ends with the service, which does not wait for it', async () => {
    const own = await startHttp();
    const response = await own.fetch('/v1/events');
    const begun = performance.now();
    await Promise.all([own.stop(), response.text()]);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
