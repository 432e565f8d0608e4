/** Ways around the rules for HTTP. The servers at the other end would serve each of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInternet, type Internet, neighbour, sandbox } from './support/harness.ts';

const api = '203.0.113.10';
const paths = '203.0.113.11';
const elsewhere = '203.0.113.66';

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.zone('api.test', { addresses: [api] });
  await net.zone('paths.test', { addresses: [paths] });
  const rules = [
    'http://api.test',
    'http://*.suffix.test',
    'GET,HEAD http://paths.test/v1',
    'https://secure.test',
  ];
  await net.program.allow(sandbox, rules);
  await net.program.allow(neighbour, rules);
  expect(await net.resolve('api.test')).toEqual([api]);
  expect(await net.resolve('paths.test')).toEqual([paths]);
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(() => net.seen());

const request = (host: string, more = '') => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const post = (fields: string, body = '') => `POST / HTTP/1.1\r\nHost: api.test\r\n${fields}\r\n${body}`;
const evil = request('evil.test');

describe('no server hears of', () => {
  it.each<[string, number, string]>([
    ['a Host that no rule names', 403, evil],
    ['an address as Host', 403, request(api)],
    ['a name that ends like one of a rule', 403, request('evilapi.test')],
    ['the parent of a suffix', 403, request('suffix.test')],
    ['a suffix in the middle', 403, request('x.suffix.test.evil.test')],
    ['no Host', 400, 'GET / HTTP/1.1\r\n\r\n'],
    ['no Host in HTTP/1.0', 403, 'GET / HTTP/1.0\r\n\r\n'],
    ['an empty Host', 400, request('')],
    ['two Hosts', 400, request('api.test', 'Host: evil.test\r\n')],
    ['two Hosts in one field', 400, request('api.test, evil.test')],
    ['a Host with another port', 403, request('api.test:8080')],
    ['a Host with two ports', 400, request('api.test:80:8080')],
    ['a Host behind user information', 400, request('api.test@evil.test')],
    ['a Host with a path', 400, request('api.test/evil.test')],
    ['a Host that ends with a dot', 400, request('api.test.')],
    ['a Host with a zero byte', 400, request('api.test\0.evil.test')],
    ['an absolute target for another host', 400, 'GET http://evil.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    [
      'an absolute target whose Host is another',
      400,
      'GET http://api.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n',
    ],
    ['an absolute target of https', 400, 'GET https://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    ['CONNECT', 403, 'CONNECT api.test:80 HTTP/1.1\r\nHost: api.test:80\r\n\r\n'],
    [
      'an upgrade to h2c',
      403,
      request('api.test', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n'),
    ],
    ['HTTP/2 with prior knowledge', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    [
      'a length beside chunks',
      400,
      post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${evil}`),
    ],
    ['two lengths', 400, post('Content-Length: 0\r\nContent-Length: 70\r\n', evil)],
    ['two lengths in one field', 400, post('Content-Length: 0, 70\r\n', evil)],
    ['a length with a sign', 400, post('Content-Length: +0\r\n', evil)],
    ['a transfer encoding that only looks like chunked', 400, post('Transfer-Encoding: xchunked\r\n', evil)],
    ['two transfer encodings', 400, post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${evil}`)],
    ['a field that goes on with the line before', 400, request('api.test', 'X: a\r\n Host: evil.test\r\n')],
    ['a Host on a line that goes on', 400, 'GET / HTTP/1.1\r\nHost:\r\n evil.test\r\n\r\n'],
    ['a blank before the colon', 400, request('api.test', 'Content-Length : 70\r\n')],
    ['lines that end with LF alone', 400, 'GET / HTTP/1.1\nHost: evil.test\nHost: api.test\n\n'],
    ['a bare CR in a field', 400, request('api.test', 'X: a\rHost: evil.test\r\n')],
    ['two blanks in the request line', 400, 'GET  / HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    ['a head that does not end', 431, `GET / HTTP/1.1\r\nHost: api.test\r\nX: ${'a'.repeat(20_000)}`],
  ])('%s', async (_what, status, bytes) => {
    const { head, ended } = await net.talk(api, 80, bytes);
    if (bytes.startsWith('\r')) expect(head.toString()).toBe('');
    else
      expect(head.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*\r\nconnection: close\r\n`, 's'));
    expect(ended).not.toBe('open');
    expect(await net.seen()).toEqual([]);
  });

  it('an allowed Host at an address that the resolver never gave', async () => {
    expect((await net.talk(elsewhere, 80, request('api.test'))).head.toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect(await net.seen()).toEqual([]);
  });

  it('an allowed Host at an address that the resolver gave to another sandbox', async () => {
    expect((await net.talk(api, 80, request('api.test'), neighbour)).head.toString()).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(await net.seen()).toEqual([]);
  });

  it('an allowed Host on a port of no rule', async () => {
    expect((await net.talk(api, 8080, request('api.test:8080'))).head.toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect(await net.seen()).toEqual([]);
  });

  it('HTTP to a host of a rule for https', async () => {
    await net.zone('secure.test', { addresses: [elsewhere] });
    await net.resolve('secure.test');
    expect((await net.talk(elsewhere, 443, request('secure.test'))).head.toString()).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(await net.seen()).toEqual([]);
  });
});

describe('the server hears the first request and not', () => {
  it.each<[string, string, string]>([
    ['a second one that comes with it, for another host', request('api.test'), evil],
    ['one behind a body', post('Content-Length: 5\r\n', 'hello'), evil],
    ['one behind chunks', post('Transfer-Encoding: chunked\r\n', '1\r\na\r\n0\r\n\r\n'), evil],
    [
      'one behind an upgrade that the server does not take',
      request('api.test', 'Upgrade: websocket\r\nConnection: Upgrade\r\n').replace('/', '/plain'),
      evil,
    ],
    ['a tunnel', request('api.test'), 'CONNECT evil.test:80 HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
  ])('%s', async (_what, first, second) => {
    const { head, ended } = await net.talk(api, 80, first + second);
    expect(head.toString()).toMatch(
      /^HTTP\/1\.1 200 .*HTTP\/1\.1 403 .*sandhaven network allow|CONNECT is refused/s,
    );
    expect(ended).toBe('end');
    expect((await net.seen()).map(({ text }) => text)).toEqual([first]);
  });

  it('one that comes later on the kept connection', async () => {
    const connection = await net.connect(api, 80);
    await connection.write(request('api.test'));
    await expect.poll(async () => (await connection.state()).head.toString()).toContain('GET api.test/');
    await connection.write(evil);
    expect((await connection.over()).head.toString()).toMatch(/GET api\.test\/ HTTP\/1\.1 403 /);
    expect((await net.seen()).map(({ text }) => text)).toEqual([request('api.test')]);
  });

  it.each<[string, string]>([
    ['a chunk that is longer than its size', '1\r\nab\r\n0\r\n\r\n'],
    ['a size with a sign', `+0\r\n\r\n${evil}`],
    ['an extension of a chunk that ends with LF', `0;a\n\r\n${evil}`],
    ['a trailer that is no field', `0\r\nGET / HTTP/1.1\r\n\r\n${evil}`],
    ['a size beyond all numbers', `fffffffffffffffff\r\n${evil}`],
  ])('what follows %s', async (_what, body) => {
    await net.talk(api, 80, post('Transfer-Encoding: chunked\r\n', body));
    const texts = (await net.seen()).map(({ text }) => text).join('');
    expect(texts).not.toContain('evil.test');
    expect(texts.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});

it('a request in a body stays one', async () => {
  const bytes = post(`Content-Length: ${evil.length}\r\nConnection: close\r\n`, evil);
  const { head } = await net.talk(api, 80, bytes);
  expect(head.toString().match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  expect(head.toString()).toContain(`POST api.test/ ${evil}`);
});

describe('a rule with methods and a path', () => {
  const at = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: paths.test\r\nConnection: close\r\n\r\n`;

  it.each(['/v1', '/v1/', '/v1/models?q=/../x', '/v1/a%20b', '/v1/a/../b'])('allows %s', async (path) => {
    expect((await net.talk(paths, 80, at('GET', path))).head.toString()).toContain(`GET paths.test${path} `);
  });

  it.each([
    ['POST', '/v1'],
    ['get', '/v1'],
    ['GET', '/'],
    ['GET', '/v10'],
    ['GET', '/v1/../secret'],
    ['GET', '/v1/%2e%2e/secret'],
    ['GET', '/v1/..%2fsecret'],
    ['GET', '/v1/..%5csecret'],
    ['GET', '/v1/%252e%252e/secret'],
    ['GET', '/v1/..;/secret'],
    ['GET', '/v1/..;x=1/secret'],
    ['GET', '/v1/.%2e/secret'],
    ['GET', '/v1\\..\\secret'],
    ['GET', '/v1/%c0%ae%c0%ae/secret'],
    ['GET', '/v1/%u002e%u002e/secret'],
    ['GET', '/%76%31/../secret'],
    ['GET', '/v1%2fsecret'],
    ['GET', '/v1/%2e/../../secret'],
    ['GET', '/V1'],
    ['GET', 'http://paths.test/v1/../secret'],
    ['Get', '/v1'],
    ['GETX', '/v1'],
    ['TRACE', '/v1'],
    ['GET', '/v1//../secret'],
    ['GET', '/secret/../v1'],
    ['GET', '/v1/%00'],
    ['OPTIONS', '*'],
  ])('refuses %s %s', async (method, path) => {
    expect((await net.talk(paths, 80, at(method, path))).head.toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect(await net.seen()).toEqual([]);
  });
});

it('a refusal names the rule to ask for', async () => {
  const { head } = await net.talk(api, 80, request('noted.test'));
  expect(head.toString()).toContain(
    `The network policy of this sandbox refuses http://noted.test: no rule allows it.\n` +
      `To allow it: sandhaven network allow sb_${sandbox} http://noted.test\n`,
  );
  await expect
    .poll(() => net.program.events.filter(({ name }) => name === 'noted.test'))
    .toEqual([expect.objectContaining({ kind: 'http', allowed: false, why: 'no rule allows it' })]);
});

it('requests for two hosts on one connection are two in the events, each with its own bytes', async () => {
  for (const name of ['one.suffix.test', 'two.suffix.test']) {
    await net.zone(name, { addresses: [api] });
    await net.resolve(name);
  }
  const requests = [request('one.suffix.test'), request('two.suffix.test', 'Connection: close\r\n')];
  await net.talk(api, 80, requests.join(''));
  const ends = () =>
    net.program.events
      .filter(({ name, ended }) => name?.endsWith('.suffix.test') && ended)
      .map(({ sent }) => sent);
  await expect.poll(ends).toEqual(requests.map(({ length }) => length));
});
