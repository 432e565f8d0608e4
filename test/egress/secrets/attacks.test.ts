/** Ways to get at a value, or to have it sent elsewhere, that a sandbox or a server could try. Each is named. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { neighbour, sandbox } from '../support/harness.ts';
import { hello } from '../support/messages.ts';
import {
  api,
  createOpened,
  type Opened,
  otherPlaceholder,
  placeholder,
  port,
  secret,
  value,
} from './support/harness.ts';

const host = `Host: api.test:${port}\r\n`;
const stars = '*'.repeat(value.length);
const accessDenied = '15030100020231';
const closing = 'Connection: close\r\n';

let net: Opened;

beforeAll(async () => {
  net = await createOpened();
  await net.give([secret({ value: 'another-owners-value', placeholder: otherPlaceholder })], {
    of: neighbour,
  });
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(async () => {
  await net.give([secret()]);
  await net.requests();
});

const get = (path: string, fields: string) => `GET ${path} HTTP/1.1\r\n${closing}${fields}\r\n`;

/** Status of each response in what came. */
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

describe('a request that is not for the server of its connection never reaches it', () => {
  it.each([
    ['a Host unlike the server name', get('/', 'Host: evil.test\r\n'), 421],
    ['a Host with another port', get('/', 'Host: api.test:443\r\n'), 421],
    ['a Host that ends with a dot', get('/', 'Host: api.test.\r\n'), 421],
    ['a Host with a user', get('/', 'Host: api.test@evil.test\r\n'), 421],
    ['a Host that is an address', get('/', `Host: ${api}\r\n`), 421],
    ['no Host', get('/', ''), 400],
    ['two Hosts', get('/', `${host}Host: evil.test\r\n`), 400],
    ['two equal Hosts', get('/', host + host), 400],
    ['an absolute target of another host', get('https://evil.test/', host), 421],
    ['an absolute target of another scheme', get('http://api.test/', host), 421],
    ['CONNECT', `CONNECT evil.test:443 HTTP/1.1\r\n${closing}${host}\r\n`, 405],
    ['TRACE, whose answer is the request', `TRACE / HTTP/1.1\r\n${closing}${host}\r\n`, 405],
    ['a field that goes on in the next line (obs-fold)', get('/', `${host}X-A: 1\r\n evil: 2\r\n`), 400],
    ['a blank before a colon', get('/', `${host}X-A : 1\r\n`), 400],
    ['a zero byte in a field', get('/', `${host}X-A: a\0b\r\n`), 400],
    ['a bare CR in a field', get('/', `${host}X-A: a\rHost: evil.test\r\n`), 400],
    ['a blank in the target', get('/a b', host), 400],
    ['two lengths', `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    ['a length with a sign', `POST / HTTP/1.1\r\n${host}Content-Length: +1\r\n\r\na`, 400],
    ['a transfer that is not chunked', `POST / HTTP/1.1\r\n${host}Transfer-Encoding: identity\r\n\r\n`, 400],
    ['chunked twice removed', `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked, gzip\r\n\r\n`, 400],
    ['a head without end', get('/', `${host}X-A: ${'a'.repeat(70_000)}\r\n`), 431],
    ['fields without number', get('/', host + 'X-A: 1\r\n'.repeat(500)), 431],
  ])('%s', async (_what, bytes, status) => {
    const { text } = await net.raw(bytes);
    expect(statuses(text)[0]).toBe(status);
    expect(await net.requests()).toEqual([]);
  });
});

describe('one request is one request at the server, framed anew', () => {
  it.each([
    [
      'a length beside chunks',
      `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${get('/smuggled', host)}`,
    ],
    [
      'chunks beside a length',
      `Transfer-Encoding: chunked\r\nContent-Length: 200\r\n\r\n0\r\n\r\n${get('/smuggled', host)}`,
    ],
    ['a request inside a body', `Content-Length: 40\r\n${closing}\r\n${get('/smuggled', host).slice(0, 40)}`],
    ['the Host that Connection names', `Connection: host, close\r\n\r\n`],
  ])('%s', async (_what, rest) => {
    await net.raw(`POST /first HTTP/1.1\r\n${host}${rest}`);
    const requests = await net.requests();
    expect(requests[0]?.url).toBe('/first');
    expect(requests[0]?.headers['host']).toBe(`api.test:${port}`);
    // A second one may be there only as a whole request of its own, which had its own check and its own value.
    for (const request of requests) expect(request.headers['authorization']).toBe(`Bearer ${value}`);
    for (const { headers } of requests) {
      expect([headers['content-length'], headers['transfer-encoding']]).not.toEqual([
        expect.anything(),
        expect.anything(),
      ]);
    }
  });

  it('the field of the secret that Connection names is set nevertheless', async () => {
    await net.raw(get('/', `${host}Connection: authorization\r\nAuthorization: own\r\n`));
    expect((await net.requests())[0]?.headers['authorization']).toBe(`Bearer ${value}`);
  });

  it('h2c asks for another protocol and gets none', async () => {
    const { text } = await net.raw(
      get('/', `${host}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n`),
    );
    expect(statuses(text)).toEqual([200]);
    expect((await net.requests())[0]?.headers['upgrade']).toBeUndefined();
  });
});

describe('pseudo fields of HTTP/2 are the server’s, or the request goes nowhere', () => {
  it.each([
    ['an authority unlike the server name', { ':authority': 'evil.test' }, 421],
    ['an authority with another port', { ':authority': 'api.test:1' }, 421],
    ['an authority with a user', { ':authority': `evil@api.test:${port}` }, 421],
    ['a Host beside the authority, unlike it', { ':authority': `api.test:${port}`, host: 'evil.test' }, 421],
    ['another scheme', { ':scheme': 'http' }, 421],
    ['TRACE', { ':method': 'TRACE' }, 405],
  ])('%s', async (_what, headers, status) => {
    const client = await net.client('h2');
    expect((await client.ask({ headers: headers as never })).status).toBe(status);
    expect(await net.requests()).toEqual([]);
    await client.close();
  });
});

describe('a path of a target is no way out of it', () => {
  it.each([
    '/v1/../admin',
    '/v1/%2e%2e/admin',
    '/v1/..%2fadmin',
    '/v1%2f..%2fadmin',
    '/v1/..;/admin',
    '/v1//../admin',
    '/v1/%252e%252e/admin',
    '/v1/..\\admin',
    '/V1/a',
    '/v10',
    '//v1',
  ])('%s', async (path) => {
    await net.give([secret({ targets: [{ host: 'api.test', port, methods: [], path: '/v1' }] })]);
    await net.raw(get(path, host));
    for (const { headers } of await net.requests()) expect(headers['authorization']).toBeUndefined();
  });
});

describe('a value comes back to its sandbox in no answer that is text', () => {
  it.each(['/', '/length', '/chunks', '/events', '/in-fields', '/redirect'])(
    'an echo in %s',
    async (path) => {
      const { text } = await net.raw(get(path, host));
      expect(text).toContain(stars);
      expect(text).not.toContain(value);
    },
  );

  it('a value that was put into a path by a server’s redirect is not followed by it', async () => {
    const client = await net.client('h1');
    const { headers } = await client.ask({ path: '/redirect' });
    expect(headers['location']).toBe(`https://other.test/?key=Bearer ${stars}`);
    await client.close();
  });

  it('a body with the placeholder of this and of another sandbox gets no value', async () => {
    const client = await net.client('h1');
    const { body } = await client.echo({ method: 'POST', body: `${placeholder} ${otherPlaceholder}` });
    expect(body).toBe(`${placeholder} ${otherPlaceholder}`);
    await client.close();
  });

  it('the placeholder of another sandbox in the place of a secret gets no value', async () => {
    const client = await net.client('h1');
    await client.ask({ headers: { authorization: `Bearer ${otherPlaceholder}` } });
    expect((await net.requests())[0]?.headers['authorization']).toBe(`Bearer ${otherPlaceholder}`);
    await client.close();
  });
});

describe('TLS of the client', () => {
  it('a name of no rule is refused before anything is opened', async () => {
    const { head } = await net.talk(api, port, hello(['evil.test']));
    expect(head.toString('hex')).toBe(accessDenied);
  });

  it('a name of a secret that no rule admits is refused: a secret makes no host reachable', async () => {
    await net.give([secret()], { rules: ['https://other.test:9443'] });
    const { head } = await net.talk(api, port, hello(['api.test']));
    expect(head.toString('hex')).toBe(accessDenied);
  });

  it('a name of a secret at an address that the resolver never gave is refused', async () => {
    const { head } = await net.talk('203.0.113.66', port, hello(['api.test']));
    expect(head.toString('hex')).toBe(accessDenied);
  });

  it('a hello with two names is refused', async () => {
    const { head } = await net.talk(api, port, hello(['api.test', 'evil.test']));
    expect(head.toString('hex')).toBe(accessDenied);
  });

  it('sessions are not resumed: neither by clients, in another name or another sandbox, nor at servers', async () => {
    const first = await shake({ maxVersion: 'TLSv1.2' });
    for (const more of [{}, { servername: 'other.test' }, { from: neighbour }]) {
      const again = await shake({ maxVersion: 'TLSv1.2', session: first.session }, more);
      expect(again.reused ?? false).toBe(false);
    }
    expect((await shake({ minVersion: 'TLSv1.3' })).session).toBe('');
    expect(await net.servers.call<number>('resumed')).toBe(0);
  });

  it('a protocol that is not HTTP has an alert', async () => {
    const shaken = await net.clients.call<{ error: string }>('shake', { ...net.to(), protocols: ['imap'] });
    expect(shaken.error).toBe('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  });

  it('another sandbox’s authority is trusted by none', async () => {
    const to = net.to({ ca: net.authorities[neighbour]?.pem ?? '' });
    const shaken = await net.clients.call<{ error: string }>('shake', to);
    expect(shaken.error).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('certificates are what strict verifiers ask for', async () => {
    const { certificate } = await shake({});
    const folder = mkdtempSync(join(tmpdir(), 'sandhaven-strict-'));
    writeFileSync(join(folder, 'ca.pem'), net.authorities[sandbox]?.pem ?? '');
    writeFileSync(join(folder, 'leaf.der'), Buffer.from(certificate, 'base64'));
    const args = ['verify', '-x509_strict', '-CAfile', 'ca.pem', '-verify_hostname', 'api.test', 'leaf.der'];
    expect(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' })).toBe('leaf.der: OK\n');
    rmSync(folder, { recursive: true });
  });

  interface Shaken {
    error: string | null;
    session: string;
    reused?: boolean;
    certificate: string;
  }

  function shake(more: object, to: object = {}): Promise<Shaken> {
    return net.clients.call('shake', { ...net.to(to), more: { rejectUnauthorized: false, ...more } });
  }
});

describe('two sandboxes with a secret of one host', () => {
  it('each has its own value, also at once', async () => {
    const [mine, theirs] = await Promise.all([net.client('h2'), net.client('h2', { from: neighbour })]);
    await Promise.all(Array.from({ length: 10 }, () => Promise.all([mine.ask(), theirs.ask()])));
    const values = (await net.requests()).map(({ headers }) => headers['authorization']).sort();
    expect(values).toEqual([
      ...Array(10).fill('Bearer another-owners-value'),
      ...Array(10).fill(`Bearer ${value}`),
    ]);
    await Promise.all([mine.close(), theirs.close()]);
  });
});
