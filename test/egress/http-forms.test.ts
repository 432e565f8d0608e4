/** Odd forms of HTTP: a server that reads them in its own way hears none, or hears them as the gate read them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInternet, type Internet, sandbox } from './support/harness.ts';

const api = '203.0.113.10';
const proxy = '203.0.113.11';

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.zone('api.test', { addresses: [api] });
  await net.zone('proxy.test', { addresses: [proxy] });
  await net.program.allow(sandbox, ['http://api.test', 'http://proxy.test:8080']);
  expect(await net.resolve('api.test')).toEqual([api]);
  expect(await net.resolve('proxy.test')).toEqual([proxy]);
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(() => net.seen());

const request = (host: string, more = '') => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const post = (fields: string, body = '') => `POST / HTTP/1.1\r\nHost: api.test\r\n${fields}\r\n${body}`;
const line = (start: string) => `${start}\r\nHost: api.test\r\n\r\n`;
const evil = request('evil.test');
const switching = (protocol: string) => `Upgrade: ${protocol}\r\nConnection: Upgrade\r\n`;
const status = (code: number) => new RegExp(`^HTTP/1\\.1 ${code} .*\r\nconnection: close\r\n`, 's');

describe('no server hears of', () => {
  it.each<[string, number, string]>([
    ['a WebSocket to another host', 403, request('evil.test', switching('websocket'))],
    ['an upgrade to TLS', 403, request('api.test', switching('TLS/1.2'))],
    ['an upgrade to a tunnel of datagrams', 403, request('api.test', switching('connect-udp'))],
    [
      'a WebSocket that is asked for with a body',
      403,
      post(`${switching('websocket')}Content-Length: 70\r\n`, evil),
    ],
    ['HTTP/0.9', 400, 'GET /\r\n\r\n'],
    ['a version that is not there yet', 505, line('GET / HTTP/1.2')],
    ['a version in lower case', 505, line('GET / http/1.1')],
    ['an escaped Host', 400, request('api%2etest')],
    ['an IPv6 address as Host', 400, request('[2001:db8::1]')],
    ['an address in another form as Host', 400, request('0xcb00710a')],
    ['a Host in UTF-8', 400, request('\u00e1pi.test')],
    ['a Host of 300 bytes', 400, request(`${'a.'.repeat(145)}test`)],
    ['a wildcard as Host', 400, request('*.test')],
    ['a second Host in capitals', 400, request('api.test', 'HOST: evil.test\r\n')],
    ['another Host behind a tab', 403, 'GET / HTTP/1.1\r\nHost:\tevil.test\r\n\r\n'],
    ['a field without a name', 400, request('api.test', ': evil.test\r\n')],
    ['a field without a colon', 400, request('api.test', 'evil.test\r\n')],
    ['a vertical tab in a field', 400, request('api.test', 'X: a\x0bHost: evil.test\r\n')],
    ['more fields than a server reads', 400, request('api.test', 'X: a\r\n'.repeat(200))],
    ['a tab in the request line', 400, line('GET\t/ HTTP/1.1')],
    ['a method that is no word', 400, line('G(T / HTTP/1.1')],
    [
      'an absolute target with a user',
      400,
      'GET http://api.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n',
    ],
    ['a target with a fragment', 400, line('GET /#@evil.test/ HTTP/1.1')],
    ['a length in hexadecimal', 400, post('Content-Length: 0x46\r\n', evil)],
    ['a negative length', 400, post('Content-Length: -1\r\n', evil)],
    ['a length beyond all numbers', 400, post('Content-Length: 99999999999999999999\r\n', evil)],
    [
      'a transfer encoding twice',
      400,
      post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', evil),
    ],
    ['a transfer encoding in quotes', 400, post('Transfer-Encoding: "chunked"\r\n', evil)],
    [
      'chunks in HTTP/1.0',
      400,
      'POST / HTTP/1.0\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a PROXY header in front', 400, `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${request('api.test')}`],
    ['a greeting of SMTP', 400, 'EHLO api.test\r\n\r\n'],
    ['a banner of SSH', 400, 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ])('%s', async (_what, code, bytes) => {
    const { head, ended } = await net.talk(api, 80, bytes);
    expect(head.toString()).toMatch(status(code));
    expect(ended).not.toBe('open');
    expect(await net.seen()).toEqual([]);
  });
});

describe('a proxy that is allowed gets no', () => {
  it.each<[string, number, string]>([
    ['request for another host', 403, 'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['target for another host', 400, 'GET http://evil.test/ HTTP/1.1\r\nHost: proxy.test:8080\r\n\r\n'],
    ['tunnel to another host', 403, 'CONNECT evil.test:443 HTTP/1.1\r\nHost: proxy.test:8080\r\n\r\n'],
  ])('%s', async (_what, code, bytes) => {
    expect((await net.talk(proxy, 8080, bytes)).head.toString()).toMatch(status(code));
    expect(await net.seen()).toEqual([]);
  });
});

it('a redirect to another host leads nowhere', async () => {
  const { head } = await net.talk(
    api,
    80,
    'GET /away HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n',
  );
  expect(head.toString()).toMatch(/^HTTP\/1\.1 302 .*location: http:\/\/evil\.test\//is);
  await net.seen();
  expect(await net.resolve('evil.test')).toEqual([]);
  expect((await net.talk(api, 80, evil)).head.toString()).toMatch(status(403));
  expect(await net.seen()).toEqual([]);
});

it('fields that name another host or method reach the allowed server alone', async () => {
  const more = 'X-Forwarded-Host: evil.test\r\nX-HTTP-Method-Override: DELETE\r\nConnection: close\r\n';
  expect((await net.talk(api, 80, request('api.test', more))).head.toString()).toContain('GET api.test/ ');
  expect((await net.seen()).map(({ address }) => address)).toEqual([api]);
});

describe('on a kept connection the server hears no', () => {
  it.each<[string, string]>([
    ['request for a host of which only another address is allowed', request('proxy.test')],
    ['WebSocket to another host', request('evil.test', switching('websocket'))],
    ['upgrade to h2c', request('api.test', switching('h2c'))],
    ['bytes of TLS', '\x16\x03\x01\x00\x05he\nlo'],
  ])('%s', async (_what, second) => {
    const connection = await net.connect(api, 80);
    await connection.write(request('api.test'));
    await expect.poll(async () => (await connection.state()).head.toString()).toContain('GET api.test/');
    await connection.write(second);
    expect((await connection.over()).ended).not.toBe('open');
    expect((await net.seen()).map(({ text }) => text)).toEqual([request('api.test')]);
  });
});
