/** Requests of a sandbox get the values of its secrets on their way out, in the place and at the hosts that each secret has. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandbox } from '../support/harness.ts';
import {
  bearer,
  type Client,
  createOpened,
  type Opened,
  otherPlaceholder,
  placeholder,
  port,
  secret,
  value,
} from './support/harness.ts';

let net: Opened;

beforeAll(async () => {
  net = await createOpened();
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(() => net.requests());

/** A field of each request that servers got since the last call. */
async function got(field = 'authorization'): Promise<unknown[]> {
  return (await net.requests()).map(({ headers }) => headers[field]);
}

describe.each(['h1', 'h2'] as const)('over %s', (protocol) => {
  let client: Client;

  beforeEach(async () => {
    await net.give([secret()]);
    client = await net.client(protocol);
    return () => client.close();
  });

  it('a request without the field gets it, and one with the placeholder has it replaced', async () => {
    await client.ask();
    await client.ask({ headers: { authorization: `Bearer ${placeholder}` } });
    await client.ask({ headers: { authorization: `token ${placeholder}` } });
    expect(await got()).toEqual([`Bearer ${value}`, `Bearer ${value}`, `token ${value}`]);
  });

  it('what a client puts there of its own stays', async () => {
    for (const own of ['Bearer own', otherPlaceholder]) await client.ask({ headers: { authorization: own } });
    expect(await got()).toEqual(['Bearer own', otherPlaceholder]);
  });

  it('method, path, query, other fields and the body pass as they are, with placeholders in them', async () => {
    const { url, method, body, headers } = await client.echo({
      ...{ method: 'PUT', path: `/a%20b/${placeholder}?q=${placeholder}`, body: placeholder },
      headers: { 'x-other': placeholder, cookie: 'a=1' },
    });
    expect({ url, method, body }).toEqual({
      url: `/a%20b/${placeholder}?q=${placeholder}`,
      method: 'PUT',
      body: placeholder,
    });
    expect([headers['x-other'], headers['cookie']]).toEqual([placeholder, 'a=1']);
  });

  it('a parameter of the query gets the value with escapes', async () => {
    await net.give([secret({ value: 'a&b=c d', place: { in: 'query', name: 'key' } })]);
    await client.ask({ path: '/a?x=1' });
    await client.ask({ path: `/a?key=${placeholder}&x=1` });
    await client.ask({ path: '/a?key=own' });
    const urls = (await net.requests()).map(({ url }) => url);
    expect(urls).toEqual(['/a?x=1&key=a%26b%3Dc%20d', '/a?key=a%26b%3Dc%20d&x=1', '/a?key=own']);
  });

  it('basic authentication gets the value as its password', async () => {
    await net.give([secret({ place: { in: 'basic', username: null } })]);
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    await client.ask();
    await client.ask({ headers: { authorization: basic(`me:${placeholder}`) } });
    await client.ask({ headers: { authorization: basic('me:own') } });
    expect(await got()).toEqual([basic(`:${value}`), basic(`me:${value}`), basic('me:own')]);
  });

  it('a request of AWS is signed anew with the keys', async () => {
    await net.give([secret({ value: 'AKIDEXAMPLE:secret-access-key-1', place: { in: 'aws' } })]);
    const scope = '20260101/eu-west-1/dynamodb/aws4_request';
    const given = `AWS4-HMAC-SHA256 Credential=${placeholder}/${scope}, SignedHeaders=host;x-amz-date, Signature=00`;
    const headers = { authorization: given, 'x-amz-date': '20260101T000000Z' };
    const { headers: echoed, body } = await client.echo({ method: 'POST', headers, body: '{}' });
    expect(body).toBe('{}');
    expect(echoed['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260101\/eu-west-1\/dynamodb\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
    );
  });

  it('of methods and paths, those of a target alone get it', async () => {
    await net.give([secret({ targets: [{ host: 'api.test', port, methods: ['GET'], path: '/v1' }] })]);
    for (const path of ['/v1', '/v1/a?b', '/v10', '/v2', '/']) await client.ask({ path });
    await client.ask({ method: 'POST', path: '/v1' });
    const with_ = `Bearer ${value}`;
    expect(await got()).toEqual([with_, with_, undefined, undefined, undefined, undefined]);
  });

  it('a rotated secret is used by the next request of an open connection, and a withdrawn one by none', async () => {
    await client.ask();
    await net.give([secret({ value: 'another-value' })]);
    await client.ask();
    await net.give([]);
    await client.ask();
    expect(await got()).toEqual([`Bearer ${value}`, 'Bearer another-value', undefined]);
  });

  it('an expired secret refuses the request that would carry it, and no other', async () => {
    await net.give([secret({ expiresAt: Date.now() - 1 })]);
    const { status, body } = await client.ask();
    expect([status, body]).toEqual([403, 'The secret API_KEY has expired.\n']);
    expect((await client.ask({ headers: { authorization: 'own' } })).status).toBe(200);
    expect(await got()).toEqual(['own']);
  });

  it('several secrets of a host have places of their own', async () => {
    const second = { secret: 'se_2', placeholder: otherPlaceholder, value: 'value-of-the-second' };
    await net.give([
      secret(),
      secret({ ...second, place: { ...bearer, name: 'x-api-key', format: '{secret}' } }),
    ]);
    await client.ask();
    const [request] = await net.requests();
    expect([request?.headers['authorization'], request?.headers['x-api-key']]).toEqual([
      `Bearer ${value}`,
      'value-of-the-second',
    ]);
  });
});

it('events tell of each request, by which rule, and which secret it got', async () => {
  await net.give([secret()]);
  const client = await net.client('h1');
  await client.ask();
  await client.ask({ headers: { authorization: 'own' } });
  await client.close();
  const event = {
    ...{
      at: expect.any(Number),
      sandbox: `sb_${sandbox}`,
      kind: 'https',
      name: 'api.test',
      address: '203.0.113.10',
    },
    ...{ port, rule: `https://api.test:${port}`, secret: 'se_1', allowed: true, why: null },
    ...{ sent: 0, received: 0, ended: false },
  };
  await expect.poll(() => net.events('https').slice(-2)).toEqual([event, { ...event, secret: null }]);
});

describe('an open network', () => {
  it('opens the connections to hosts of secrets, and passes all others on', async () => {
    await net.give([secret()], { rules: [], open: true });
    const client = await net.client('h2');
    await client.ask();
    expect(await got()).toEqual([`Bearer ${value}`]);
    await client.close();
    // Of another name the server's own certificate arrives, which the authority of the internet has signed.
    const to = net.to({ servername: 'other.test', ca: readFileSync(net.roots.bundleFile, 'utf8') });
    expect((await net.clients.call<{ error: string | null }>('shake', to)).error).toBeNull();
    const plain = await net.connect('203.0.113.10', 5000);
    await plain.write('neither TLS nor HTTP');
    await plain.end();
    expect((await plain.over()).head.toString()).toBe('neither TLS nor HTTP');
  });

  it('passes a server that speaks first on a port of a secret', async () => {
    await net.give([secret({ targets: [{ host: 'api.test', port: 22, methods: [], path: null }] })], {
      rules: [],
      open: true,
    });
    const ssh = await net.connect('203.0.113.10', 22);
    await expect.poll(async () => (await ssh.state()).head.toString()).toBe('SSH-2.0-test\r\n');
  });

  it('ends connections that later rules do not admit', async () => {
    await net.give([secret()], { rules: [], open: true });
    const client = await net.client('h1');
    expect((await client.ask()).status).toBe(200);
    await net.give([secret()], { rules: ['https://api.test:1'] });
    await expect(client.ask()).rejects.toThrow();
  });
});

describe('a command is refused, and all is as before', () => {
  it.each([
    ['secrets without an authority', [secret()], null, 'secrets need an authority'],
    ['a key that is none', [secret()], { key: 'AAAA', subject: 'x' }, 'the authority has no key on P-256'],
    [
      'a value that breaks out of a field',
      [secret({ value: 'a\r\nHost: b' })],
      undefined,
      'secret se_1: it does not fit into this header',
    ],
    [
      'a value that is too long',
      [secret({ value: 'v'.repeat(8193) })],
      undefined,
      'secret se_1: its value is empty or too long',
    ],
    [
      'a form that is none, without a word of its value',
      [secret({ value: 12345678 })],
      undefined,
      /^a line that is no command, at character \d+$/,
    ],
  ])('%s', async (_what, secrets, authority, why) => {
    await net.give([secret()]);
    const given = authority === undefined ? net.authorities[sandbox]?.given : authority;
    const set = {
      address: sandbox,
      sandbox: `sb_${sandbox}`,
      owner: 'us_1',
      rules: [],
      secrets,
      authority: given,
    };
    await expect(net.program.command({ set })).rejects.toThrow(why);
    const client = await net.client('h1');
    await client.ask();
    await client.close();
    expect(await got()).toEqual([`Bearer ${value}`]);
  });
});
