/** The network log of a sandbox, and the learning of its rules: over HTTP, in the stream of changes, on the command line. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { NetworkEvent } from '../../src/model/network/traffic.ts';
import { readEvents } from '../../src/surfaces/cli/client.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;
/** Sandbox 'box' of the admin. */
let id: string;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterAll(() => http.close());

beforeEach(async () => {
  http.sandboxes.clear();
  id = String((await post('tools/Sandbox.CreateSandbox', { name: 'box' })).body['id']);
});

async function post(path: string, parameters: unknown, key = API_KEY) {
  const response = await fetch(`${http.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const event = (name: string, more: Partial<NetworkEvent> = {}): NetworkEvent => ({
  ...{ at: 1_700_000_000_000, sandbox: id, kind: 'tls', name, address: '203.0.113.7', port: 443 },
  ...{
    rule: `https://${name}`,
    secret: null,
    allowed: true,
    why: null,
    sent: 0,
    received: 0,
    ended: false,
    ...more,
  },
});
const refusal = (name: string) => event(name, { rule: null, allowed: false, why: 'no rule allows it' });

it('shows the newest events, and those after a sequence', async () => {
  http.reportNetwork(event('a.example.com'), refusal('b.example.com'), { sandbox: id, dropped: 4 });
  const { body } = await post('admin/GetNetworkLog', { sandbox: 'box' });
  expect(body).toMatchObject({
    events: [
      {
        ...{
          sequence: expect.any(Number),
          time: '2023-11-14T22:13:20.000Z',
          kind: 'tls',
          name: 'a.example.com',
        },
        ...{ address: '203.0.113.7', port: 443, allowed: true, rule: 'https://a.example.com', why: null },
        ...{ ended: false, sent: 0, received: 0 },
      },
      { name: 'b.example.com', allowed: false, rule: null, why: 'no rule allows it' },
    ],
    ...{ dropped: 4, has_more: false },
  });
  const next = { sandbox: id, after: body['next_after'] };
  expect((await post('admin/GetNetworkLog', next)).body).toMatchObject({ events: [], dropped: 0 });
  http.reportNetwork(event('c.example.com'));
  expect((await post('admin/GetNetworkLog', next)).body).toMatchObject({
    events: [{ name: 'c.example.com' }],
  });
});

it.each([
  [{ limit: 0 }, 'limit'],
  [{ limit: 1_001 }, 'limit'],
  [{ after: -1 }, 'after'],
  [{ refused: 'yes' }, 'refused'],
])('refuses %j', async (parameters, parameter) => {
  const refused = await post('admin/GetNetworkLog', { sandbox: 'box', ...parameters });
  expect(refused).toMatchObject({ status: 400, body: { parameter } });
});

it("is of the caller's own sandboxes alone, the stream too", async () => {
  http.reportNetwork(event('a.example.com'));
  expect(await post('admin/GetNetworkLog', { sandbox: id }, MEMBER_KEY)).toMatchObject({ status: 404 });
  expect(await post('admin/LearnNetwork', { sandbox: id }, MEMBER_KEY)).toMatchObject({ status: 404 });
  const headers = { authorization: `Bearer ${MEMBER_KEY}` };
  expect((await fetch(`${http.url}/v1/events?network=${id}`, { headers })).status).toBe(404);
});

it('comes live in the stream of changes, from its beginning on', async () => {
  http.reportNetwork(event('before.example.com'));
  const ended = new AbortController();
  const response = await http.fetch('/v1/events?network=box', { signal: ended.signal });
  const stream = readEvents(response.body as ReadableStream<Uint8Array<ArrayBuffer>>);
  expect((await stream.next()).value).toMatchObject({ event: 'ready' });
  http.reportNetwork(event('a.example.com'), { sandbox: id, dropped: 2 });
  const { value } = await stream.next();
  expect(value?.event).toBe('network');
  expect(JSON.parse(value?.data ?? '')).toMatchObject({
    ...{ sandbox: id, events: [{ name: 'a.example.com' }], dropped: 2 },
  });
  ended.abort();
});

it('is a table on the command line, of refusals alone where asked', async () => {
  http.reportNetwork(
    event('a.example.com'),
    event('a.example.com', { ended: true, sent: 517, received: 4_096 }),
    event('', { kind: 'udp', name: null, port: 443, allowed: false, rule: null, why: 'no rule allows it' }),
  );
  const { stdout } = await cli(['network', 'log', 'box']);
  expect(stdout).toMatch(/^TIME +DECISION +KIND +NAME +ADDRESS +SENT +RECEIVED +BECAUSE$/m);
  expect(stdout).toMatch(
    /22:13:20 +allowed +tls +a\.example\.com +203\.0\.113\.7:443 +https:\/\/a\.example\.com/,
  );
  expect(stdout).toMatch(/22:13:20 +ended +tls +a\.example\.com +203\.0\.113\.7:443 +517 +4096 +https/);
  const refused = (await cli(['network', 'log', 'box', '--refused'])).stdout;
  expect(refused).toMatch(/refused +udp +203\.0\.113\.7:443 +no rule allows it/);
  expect(refused).not.toContain('a.example.com');
  const help = (await cli(['network', 'log', '--help'])).stdout;
  expect(help).toMatch(/--refused.*--follow, -f/s);
  expect((await cli(['network', 'log', 'nobody', '--follow'])).stderr).toContain("no sandbox 'nobody'");
});

it('is followed on the command line, each event once', async () => {
  http.reportNetwork(event('before.example.com'));
  const interrupt = new AbortController();
  const following = cli(['network', 'log', 'box', '--follow', '--json'], { signal: interrupt.signal });
  await sleep(300);
  http.reportNetwork(event('a.example.com'));
  http.reportNetwork(refusal('b.example.com'));
  await sleep(300);
  interrupt.abort();
  const { stdout } = await following;
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).name);
  expect(lines).toEqual(['before.example.com', 'a.example.com', 'b.example.com']);
});

it('learns rules, and shows them at the end', async () => {
  expect((await cli(['network', 'learn', 'box', '--minutes', '61'])).stderr).toContain('minutes');
  expect((await cli(['network', 'learn', 'box', '--stop'])).stderr).toContain('does not learn');
  const begun = await post('admin/LearnNetwork', { sandbox: 'box', minutes: 5 });
  expect(begun.body).toMatchObject({ sandbox: id, learning_until: expect.any(String), rules: [] });
  const { body } = await post('admin/GetNetwork', { sandbox: 'box' });
  expect(body).toMatchObject({ learning_until: begun.body['learning_until'], network: { mode: 'open' } });
  const at = Date.now();
  for (const name of ['a', 'b', 'c', 'd', 'e']) http.reportNetwork(event(`${name}.example.com`, { at }));
  http.reportNetwork(event('', { at, kind: 'udp', name: null, port: 123 }));
  const { stdout } = await cli(['network', 'learn', 'box', '--stop']);
  expect(stdout).toMatch(/^RULE +OR$/m);
  expect(stdout).toMatch(/^https:\/\/a\.example\.com +https:\/\/\*\.example\.com$/m);
  expect(stdout).toMatch(/^udp:\/\/203\.0\.113\.7:123$/m);
  expect((await post('admin/GetNetwork', { sandbox: 'box' })).body).toMatchObject({ learning_until: null });
});
