/** Documents by which clients describe themselves at their own address; none of them is a way into this network. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SandhavenError } from '../../../../src/model/errors.ts';
import { parseAllowedHosts } from '../../../../src/model/network/allowed-hosts.ts';
import { createExit } from '../../../../src/outbound/exit.ts';
import { createDocumentFetch } from '../../../../src/surfaces/http/oauth/client-documents.ts';
import { type MadeCertificate, makeCertificate } from '../../../support/certificates.ts';
import type { Harness } from '../http-harness.ts';
import { callTool, RawApp, tokensIn } from './app.ts';
import { startOAuth } from './oauth-harness.ts';
import { Person } from './person.ts';

/** Documents without a lifetime are kept for a minute. */
const OVER_MS = 61_000;

let server: Server;
let port: number;
let certificate: MadeCertificate;
let http: Harness;
/** Paths that were asked for. */
let asked: string[] = [];
/** TCP connections, with or without TLS in them. */
let connections: number;
/** Networks that documents were fetched for. */
let networks: string[];
/** Whether too many documents are being fetched for one more. */
let isFull: boolean;
let answers: Record<string, { status?: number; headers?: Record<string, string>; body: string | Buffer }>;

beforeAll(async () => {
  certificate = makeCertificate(['DNS:app.example']);
  server = createServer({ cert: certificate.pem(), key: certificate.key() }, (request, response) => {
    asked.push(request.url ?? '');
    const { status = 200, headers = {}, body } = answers[request.url ?? ''] ?? { status: 404, body: '' };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  certificate.remove();
});

beforeEach(() => {
  asked = [];
  connections = 0;
  networks = [];
  isFull = false;
});

afterEach(() => http.close());

const id = (path = '/client.json') => `https://app.example:${port}${path}`;
const documentOf = (path = '/client.json', more: object = {}) => ({
  [path]: {
    body: JSON.stringify({
      ...{
        client_id: id(path),
        client_name: 'Described app',
        redirect_uris: ['https://app.example/callback'],
      },
      token_endpoint_auth_method: 'none',
      ...more,
    }),
  },
});

/** A service to which app.example is on loopback, and loopback is public. */
async function startTrusting(): Promise<RawApp> {
  const exit = createExit({ askServers: async () => [{ address: '127.0.0.1', family: 4 }] });
  const allowed = parseAllowedHosts('test', '127.0.0.0/8');
  const fetchDocument = createDocumentFetch({ exit, allowed, ca: certificate.pem() });
  http = await startOAuth({
    async fetchDocument(target, init, network) {
      networks.push(network);
      if (isFull) throw new SandhavenError('resource_exhausted', 'Too many at once.');
      return fetchDocument(target, init, network);
    },
  });
  return Object.assign(new RawApp(http.url), { clientId: id() });
}

async function statusOf(app: RawApp, clientId = app.clientId): Promise<number> {
  return (await fetch(app.url({ client_id: clientId }), { redirect: 'manual' })).status;
}

describe('a client with a document', () => {
  it('is authorized without a registration, and shown with the host of its document', async () => {
    answers = documentOf();
    const app = await startTrusting();
    const person = await new Person(http.url).signIn();
    const shown = await person.asked(await person.open(app.url()));
    expect(shown.client).toEqual({
      ...{
        client_id: id(),
        name: 'Described app',
        redirect_host: 'app.example',
        described_at: `app.example:${port}`,
      },
    });
    const callback = await person.authorize(app.url());
    const tokens = await tokensIn(await app.redeem(callback.searchParams.get('code')));
    expect((await callTool(http.url, tokens.access_token)).status).toBe(200);
    expect(asked).toEqual(['/client.json']);
  });

  it.each([
    ['names another client', { client_id: 'https://other.example/client.json' }],
    ['has a redirect URI that none may have', { redirect_uris: ['javascript:alert(1)'] }],
    ['has a redirect URI of plain http', { redirect_uris: ['http://app.example/callback'] }],
    ['has a secret', { client_secret: 'x' }],
    ['authenticates by a secret', { token_endpoint_auth_method: 'client_secret_post' }],
    ['has no redirect URI', { redirect_uris: [] }],
  ])('is refused where it %s', async (_name, more) => {
    answers = documentOf('/client.json', more);
    expect(await statusOf(await startTrusting())).toBe(400);
  });

  it('is refused for a redirect, a failure, a text, and one that is too large', async () => {
    answers = {
      '/moved': { status: 302, headers: { location: id() }, body: '' },
      '/failed': { status: 500, body: '' },
      '/text': { body: 'hello' },
      ...documentOf('/large', { padding: 'x'.repeat(20_000) }),
      ...documentOf(),
    };
    const app = await startTrusting();
    for (const path of ['/moved', '/failed', '/text', '/large'])
      expect(await statusOf(app, id(path))).toBe(400);
    expect([...new Set(asked)]).toEqual(['/moved', '/failed', '/text', '/large']);
  });

  it('has an id of 1,000 characters at most', async () => {
    const longest = `/${'a'.repeat(1_000 - id('/').length)}`;
    expect(id(longest)).toHaveLength(1_000);
    answers = { ...documentOf(longest), ...documentOf(`${longest}a`) };
    const app = await startTrusting();
    expect(await statusOf(app, id(`${longest}a`))).toBe(400);
    expect(asked).toEqual([]);
    expect(await statusOf(app, id(longest))).toBe(303);
  });

  it('is refused above the rate of its network, before anything is fetched', async () => {
    answers = {};
    const app = await startTrusting();
    for (let at = 0; at < 30; at++) await statusOf(app, id(`/${at}`));
    expect(asked.length).toBeLessThan(30);
  });
});

describe('a document that has to be fetched again while a person decides', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('is out of reach for the moment where its server fails, and the person may try again', async () => {
    answers = documentOf();
    const app = await startTrusting();
    const person = await new Person(http.url).signIn();
    const path = await person.open(app.url());
    answers = {};
    vi.advanceTimersByTime(OVER_MS);
    for (const answer of [
      await person.fetch(`${path}/request`),
      await person.decide(path, { allow: true }),
    ]) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({
        ...{ code: 'unavailable', detail: "The application's description cannot be fetched now." },
        ...{ hint: expect.stringContaining('Try again'), retryable: true },
      });
    }
    answers = documentOf();
    expect((await person.decide(path, { allow: true })).status).toBe(200);
  });

  it('takes the share of the person’s network, and passes the reason on where that is used up', async () => {
    answers = documentOf();
    const app = await startTrusting();
    const person = await new Person(http.url).signIn();
    const path = await person.open(app.url());
    vi.advanceTimersByTime(OVER_MS);
    expect((await person.fetch(`${path}/request`)).status).toBe(200);
    expect(networks).toEqual(['127.0.0', '127.0.0']);
    vi.advanceTimersByTime(OVER_MS);
    isFull = true;
    expect((await person.fetch(`${path}/request`)).status).toBe(429);
  });

  it('counts towards no rate of networks, which people would share', async () => {
    const paths = ['/a', '/b', '/c'];
    answers = Object.assign({}, ...paths.map((path) => documentOf(path)));
    const app = await startTrusting();
    const person = await new Person(http.url).signIn();
    const opened: string[] = [];
    for (const path of paths) opened.push(await person.open(app.url({ client_id: id(path) })));
    for (let turn = 0; turn < 9; turn++) {
      vi.advanceTimersByTime(OVER_MS);
      for (const path of opened) expect((await person.fetch(`${path}/request`)).status).toBe(200);
    }
    expect(asked).toHaveLength(30);
  });
});

describe('a client whose document is in a private network', () => {
  it.each([
    ['loopback by its name', () => `https://localhost:${port}/client.json`],
    ['loopback', () => `https://127.0.0.1:${port}/client.json`],
    ['loopback as a number', () => `https://2130706433:${port}/client.json`],
    ['loopback inside IPv6', () => `https://[::ffff:127.0.0.1]:${port}/client.json`],
    ['any address', () => `https://0.0.0.0:${port}/client.json`],
    ['plain http', () => `http://127.0.0.1:${port}/client.json`],
    ['a user name', () => `https://user:password@127.0.0.1:${port}/client.json`],
  ])('is refused for %s, and nothing is connected to', async (_name, clientId) => {
    answers = documentOf();
    http = await startOAuth();
    expect(await statusOf(new RawApp(http.url), clientId())).toBe(400);
    expect(connections).toBe(0);
  });

  it('is refused where one of a name’s addresses is private', async () => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '93.184.215.14', family: 4 },
    ];
    const fetchDocument = createDocumentFetch({
      exit: createExit({ askServers: async () => addresses }),
      ca: certificate.pem(),
    });
    http = await startOAuth({ fetchDocument });
    answers = documentOf();
    expect(await statusOf(new RawApp(http.url), id())).toBe(400);
    expect(connections).toBe(0);
  });
});
