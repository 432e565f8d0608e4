/** Ways around the rules for TLS, and for connections that are neither TLS nor HTTP. Servers would echo each. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInternet, type Internet, neighbour, sandbox, stranger } from './support/harness.ts';
import {
  extension,
  hello,
  helloMessage,
  numbers,
  question,
  record,
  sized,
  types,
} from './support/messages.ts';

const api = '203.0.113.10';
const elsewhere = '203.0.113.66';
/** The resolver of the outside, which a sandbox is not to ask itself. */
const resolver = '203.0.113.53';
const accessDenied = '15030100020231';

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.zone('api.test', { addresses: [api] });
  const rules = ['https://api.test', 'https://*.suffix.test', 'http://plain.test', 'tcp://shell.test:22'];
  await net.program.allow(sandbox, rules);
  await net.program.allow(neighbour, rules);
  expect(await net.resolve('api.test')).toEqual([api]);
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(() => net.seen());

const pieces = (message: Buffer, size: number) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(message.length / size) }, (_, at) =>
      record(message.subarray(at * size, (at + 1) * size)),
    ),
  );
const encryptedHello = extension(0xfe0d, Buffer.alloc(200));
/** The hello of a client that knows TLS 1.0. */
function oldHello(name: string): Buffer {
  const message = helloMessage([name]);
  message.set([3, 1], 4);
  return record(message);
}
const typedName = (type: number, name: string) =>
  Buffer.concat([Buffer.from([type]), sized(2, Buffer.from(name))]);
const serverName = (name: string) => extension(0, sized(2, typedName(0, name)));
const alpn = (protocol: string) => extension(16, sized(2, sized(1, Buffer.from(protocol))));
/** A hello that ends behind its compressions. */
function bareHello(): Buffer {
  const message = helloMessage([]).subarray(0, -2);
  message.writeUIntBE(message.length - 4, 1, 3);
  return message;
}
const overTcp = sized(2, question('evil.test', types.A));

describe('a fatal alert answers, and no server hears of', () => {
  it.each<[string, Buffer]>([
    ['a name that no rule names', hello(['evil.test'])],
    ['a name that ends like one of a rule', hello(['evilapi.test'])],
    ['a name that begins like one of a rule', hello(['api.test.evil.test'])],
    ['the parent of a suffix', hello(['suffix.test'])],
    ['a name whose rule is for http', hello(['plain.test'])],
    ['no name', hello([])],
    ['an address as a name', hello([api])],
    ['an address in another form as a name', hello(['0xcb00710a'])],
    ['an empty name', hello([''])],
    ['an IPv6 address as a name', hello(['2001:db8::1'])],
    ['a mapped IPv4 address as a name', hello([`::ffff:${api}`])],
    ['a wildcard as a name', hello(['*.suffix.test'])],
    ['a name that begins with a dot', hello(['.suffix.test'])],
    ['a name behind a blank', hello([' api.test'])],
    ['a name in UTF-8', hello(['ápi.test'])],
    ['a punycode name of no rule', hello(['xn--pi-8ia.test'])],
    ['a label of 64 bytes', hello([`${'a'.repeat(64)}.suffix.test`])],
    ['a name of 300 bytes', hello([`${'a.'.repeat(145)}suffix.test`])],
    ['a name that ends with a dot', hello(['api.test.'])],
    ['a name with a zero byte', hello(['api.test\0.evil.test'])],
    ['two names', hello(['api.test', 'evil.test'])],
    ['two extensions with names', hello(['api.test'], serverName('evil.test'))],
    ['a name that is no host’s by its type', hello([], extension(0, sized(2, typedName(1, 'api.test'))))],
    ['an empty list of names', hello([], extension(0, Buffer.alloc(0)))],
    ['a hello without extensions', record(bareHello())],
    ['a name of no rule in a hello of TLS 1.0', oldHello('evil.test')],
    ['a name of no rule, with the protocol of DNS over TLS (ALPN)', hello(['evil.test'], alpn('dot'))],
    [
      'a name of no rule, with a ticket of an earlier session',
      hello(['evil.test'], extension(35, Buffer.alloc(200, 1))),
    ],
    [
      'a name of no rule, with early data behind',
      Buffer.concat([hello(['evil.test']), Buffer.from([23, 3, 3, 0, 1, 9])]),
    ],
    ['an encrypted hello behind a name of no rule', hello(['evil.test'], encryptedHello)],
    ['an encrypted hello without an outer name', hello([], encryptedHello)],
    ['a name of no rule in pieces of one byte', pieces(helloMessage(['evil.test']), 1)],
    ['a name of no rule in pieces of 50 bytes', pieces(helloMessage(['evil.test']), 50)],
    [
      'another record inside the hello',
      Buffer.concat([
        record(helloMessage(['api.test']).subarray(0, 60)),
        Buffer.from([21, 3, 1, 0, 2, 1, 0]),
        record(helloMessage(['api.test']).subarray(60)),
      ]),
    ],
    [
      'two hellos in a record',
      record(Buffer.concat([helloMessage(['api.test']), helloMessage(['evil.test'])])),
    ],
    ['a hello that is longer than it says', record(Buffer.concat([helloMessage(['api.test']), numbers(0)]))],
    ['an empty record', Buffer.concat([Buffer.from([22, 3, 1, 0, 0]), hello(['api.test'])])],
    [
      'a hello longer than 16 KiB',
      pieces(helloMessage(['api.test'], extension(21, Buffer.alloc(30_000))), 16_000),
    ],
    ['a version that is no TLS', Buffer.concat([Buffer.from([22, 2, 0]), hello(['api.test']).subarray(3)])],
  ])('%s', async (_what, bytes) => {
    const { head, ended } = await net.talk(api, 443, bytes);
    expect(head.toString('hex')).toBe(accessDenied);
    expect(ended).toBe('end');
    expect(await net.seen()).toEqual([]);
  });

  it.each([
    ['an allowed name at an address that the resolver never gave', elsewhere, 443, sandbox],
    ['an allowed name at an address that the resolver gave to another sandbox', api, 443, neighbour],
    ['an allowed name on a port of no rule', api, 8443, sandbox],
  ])('%s', async (_what, to, port, from) => {
    expect((await net.talk(to, port, hello(['api.test']), from)).head.toString('hex')).toBe(accessDenied);
    expect(await net.seen()).toEqual([]);
  });
});

describe('a fatal alert answers, on ports of other protocols too, and no server hears of', () => {
  it.each([
    ['a resolver over TLS (port 853)', resolver, 853, 'resolver.test'],
    ['a resolver over HTTPS', resolver, 443, 'resolver.test'],
    ['a resolver over HTTPS by its address alone', resolver, 443, null],
    ['a server of SSH or mail over TLS', elsewhere, 465, 'evil.test'],
  ])('%s', async (_what, to, port, name) => {
    const bytes = hello(name === null ? [] : [name]);
    expect((await net.talk(to, port, bytes)).head.toString('hex')).toBe(accessDenied);
    expect(await net.seen()).toEqual([]);
  });

  it('a name of no rule in TCP segments of one byte', async () => {
    const connection = await net.connect(api, 443);
    for (const byte of hello(['evil.test'])) await connection.write(Buffer.from([byte]));
    expect((await connection.over()).head.toString('hex')).toBe(accessDenied);
    expect(await net.seen()).toEqual([]);
  });
});

describe('a reset answers, and no server hears of', () => {
  it.each<[string, string, number, Buffer | string, string]>([
    ['a hello of SSL 2', api, 443, Buffer.from([0x80, 0x2e, 1, 0, 2, ...Buffer.alloc(41)]), sandbox],
    ['a protocol that is neither TLS nor HTTP', api, 443, Buffer.from([0, 1, 2, 3]), sandbox],
    [
      'an alert before the hello',
      api,
      443,
      Buffer.concat([Buffer.from([21, 3, 1, 0, 2, 1, 0]), hello(['api.test'])]),
      sandbox,
    ],
    [
      'data of TLS before the hello',
      api,
      443,
      Buffer.concat([Buffer.from([23, 3, 3, 0, 1, 9]), hello(['api.test'])]),
      sandbox,
    ],
    ['a greeting of SOCKS 5', api, 443, Buffer.from([5, 1, 0]), sandbox],
    ['a greeting of SOCKS 4', api, 443, Buffer.from([4, 1, 1, 187, 203, 0, 113, 66, 0]), sandbox],
    [
      'a binary PROXY header',
      api,
      443,
      Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n'), hello(['api.test'])]),
      sandbox,
    ],
    ['a question of DNS over TCP to another resolver', resolver, 53, overTcp, sandbox],
    ['TCP to a port of a rule at another address', elsewhere, 22, Buffer.from([0, 1, 2, 3]), sandbox],
    ['HTTP behind an empty line', api, 443, '\r\nGET / HTTP/1.1\r\nHost: api.test\r\n\r\n', sandbox],
    ['a private address', '10.77.0.1', 443, hello(['api.test']), sandbox],
    ['the metadata service', '169.254.169.254', 80, 'GET / HTTP/1.1\r\nHost: api.test\r\n\r\n', sandbox],
    ['a sandbox without a policy', api, 443, hello(['api.test']), stranger],
    ['the host, at an address of its own that is public', '198.51.100.1', 443, hello(['api.test']), sandbox],
  ])('%s', async (_what, to, port, bytes, from) => {
    const { head, ended } = await net.talk(to, port, bytes, from);
    expect(head.toString()).toBe('');
    expect(ended).toBe('reset');
    expect(await net.seen()).toEqual([]);
  });

  it('a rule for addresses that holds a private one', async () => {
    await net.program.allow(neighbour, ['https://10.77.0.1', 'https://198.51.100.1']);
    for (const to of ['10.77.0.1', '198.51.100.1']) {
      expect((await net.talk(to, 443, hello(['api.test']), neighbour)).ended).toBe('reset');
      await expect
        .poll(() => net.program.events.filter(({ address }) => address === to).map(({ why }) => why))
        .toContain("the address is not public, or the host's own");
      expect(net.program.events.filter(({ address, allowed }) => address === to && allowed)).toEqual([]);
    }
    expect(await net.seen()).toEqual([]);
  });
});
