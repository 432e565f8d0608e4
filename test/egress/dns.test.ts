/** The resolver answers for names of rules, with public addresses, and for nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInternet, type Internet, sandbox, stranger } from './support/harness.ts';
import { encodeName, hello, numbers, question, types } from './support/messages.ts';

const api = '203.0.113.10';
const noError = 0;
const malformed = 1;
const noSuchName = 3;
const refused = 5;
const blocked = 15;

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.program.allow(sandbox, ['https://api.test', 'https://*.suffix.test', 'tcp://shell.test:22']);
});

afterAll(() => net[Symbol.asyncDispose]());

const asked = () => net.outside.call<string[]>('asked');

describe('names of rules', () => {
  it('are resolved, of rules for any protocol', async () => {
    await net.zone('api.test', { addresses: [api], ttl: 77 });
    await net.zone('a.b.suffix.test', { addresses: ['203.0.113.12', '203.0.113.13'] });
    await net.zone('shell.test', { addresses: ['203.0.113.14'] });
    expect(await net.ask(question('API.test', types.A))).toEqual({
      ...{ code: noError, addresses: [api], ttl: 77, extended: null },
    });
    expect(await net.resolve('a.b.suffix.test')).toEqual(['203.0.113.12', '203.0.113.13']);
    expect(await net.resolve('shell.test')).toEqual(['203.0.113.14']);
  });

  it('are resolved behind aliases, and allowed as what was asked for alone', async () => {
    await net.zone('x.suffix.test', {
      addresses: ['203.0.113.15'],
      aliases: ['cdn.evil.test', 'edge.evil.test'],
    });
    expect(await net.resolve('x.suffix.test')).toEqual(['203.0.113.15']);
    expect((await net.talk('203.0.113.15', 443, hello(['cdn.evil.test']))).head.toString('hex')).toBe(
      '15030100020231',
    );
  });

  it('have an answer over TCP where it is cut over UDP', async () => {
    await net.zone('cut.suffix.test', { addresses: ['203.0.113.16'], isCut: true });
    expect(await net.resolve('cut.suffix.test')).toEqual(['203.0.113.16']);
  });

  it('have 32 addresses at most, as many as are remembered', async () => {
    const addresses = Array.from({ length: 40 }, (_, at) => `203.0.113.${100 + at}`);
    await net.zone('many.suffix.test', { addresses });
    expect(await net.resolve('many.suffix.test')).toEqual(addresses.slice(0, 32));
  });

  it('that do not exist have no address', async () => {
    expect(await net.ask(question('none.suffix.test', types.A))).toMatchObject({
      code: noSuchName,
      extended: null,
    });
  });

  it.each([
    ['AAAA', types.AAAA],
    ['HTTPS', types.HTTPS],
  ])('have an empty answer to %s, and nobody else is asked', async (_type, type) => {
    await asked();
    expect(await net.ask(question('api.test', type))).toMatchObject({ code: noError, addresses: [] });
    expect(await asked()).toEqual([]);
  });

  it.each([
    ['TXT', types.TXT],
    ['NULL', types.NULL],
    ['MX', types.MX],
    ['CNAME', types.CNAME],
    ['ANY', types.ANY],
  ])('are refused for %s, and nobody else is asked', async (_type, type) => {
    await asked();
    const answer = await net.ask(question('data.suffix.test', type));
    expect(answer).toMatchObject({ code: refused, addresses: [], extended: { code: blocked } });
    expect(await asked()).toEqual([]);
  });
});

describe('nobody else is asked for', () => {
  it.each([
    'evil.test',
    'data.evil.test',
    'evilapi.test',
    'x.api.test',
    'suffix.test',
    'test',
    '1.113.0.203.in-addr.arpa',
  ])('%s', async (name) => {
    await asked();
    expect(await net.ask(question(name, types.A))).toMatchObject({
      ...{ code: noSuchName, addresses: [] },
      extended: {
        code: blocked,
        text: `The network policy of this sandbox does not allow ${name}. Rule to ask for: ${name}`,
      },
    });
    expect(await asked()).toEqual([]);
  });

  it('a name with a dot inside a label', async () => {
    await asked();
    const name = Buffer.concat([Buffer.from([13]), Buffer.from('x.suffix.test'), Buffer.from([0])]);
    const message = Buffer.concat([numbers(1, 0x0100, 1, 0, 0, 0), name, numbers(types.A, 1)]);
    expect(await net.ask(message)).toMatchObject({ code: noSuchName });
    expect(await asked()).toEqual([]);
  });

  it.each<[string, Buffer]>([
    [
      'two questions',
      Buffer.concat([
        numbers(1, 0x0100, 2, 0, 0, 0),
        encodeName('api.test'),
        numbers(types.A, 1),
        encodeName('evil.test'),
        numbers(types.A, 1),
      ]),
    ],
    [
      'a question with bytes behind it',
      Buffer.concat([question('api.test', types.A, { edns: false }), Buffer.alloc(1)]),
    ],
    ['an oversize question', Buffer.concat([question('api.test', types.A), Buffer.alloc(2000)])],
    [
      'a question with records',
      Buffer.concat([numbers(1, 0x0100, 1, 1, 0, 0), encodeName('api.test'), numbers(types.A, 1)]),
    ],
    [
      'another class',
      Buffer.concat([numbers(1, 0x0100, 1, 0, 0, 0), encodeName('api.test'), numbers(types.A, 3)]),
    ],
  ])('%s', async (_what, message) => {
    await asked();
    expect(await net.ask(message)).toMatchObject({ code: malformed, addresses: [] });
    expect(await asked()).toEqual([]);
  });

  it('a name by a sandbox without a policy', async () => {
    await asked();
    expect(await net.ask(question('api.test', types.A), stranger)).toMatchObject({ code: refused });
    expect(await asked()).toEqual([]);
  });
});

describe('an answer is refused as a whole that leads to', () => {
  it.each([
    ['a private address', ['10.77.0.1'], []],
    ['a public and a private address', [api, '192.168.7.1'], []],
    ['the metadata service', ['169.254.169.254'], []],
    ['the loopback', ['127.0.0.1'], []],
    ['a private address behind an alias', ['172.20.0.1'], ['internal.test']],
  ])('%s', async (_what, addresses, aliases) => {
    await net.zone('rebound.suffix.test', { addresses, aliases });
    const answer = await net.ask(question('rebound.suffix.test', types.A));
    expect(answer).toMatchObject({ code: refused, addresses: [], extended: { code: blocked } });
    for (const to of addresses.filter((one) => one !== '127.0.0.1')) {
      expect((await net.talk(to, 443, hello(['rebound.suffix.test']))).bytes).toBeLessThan(8);
    }
    expect((await net.seen()).filter(({ port }) => port === 443)).toEqual([]);
  });
});

it('a refusal is an event', async () => {
  await net.ask(question('noted.test', types.A));
  const event = {
    sandbox: `sb_${sandbox}`,
    kind: 'dns',
    name: 'noted.test',
    allowed: false,
    why: 'no rule allows it',
  };
  await expect
    .poll(() => net.program.events.filter(({ name }) => name === 'noted.test'))
    .toEqual([expect.objectContaining(event)]);
});

it('questions over TCP are answered alike', async () => {
  const connection = await net.connect('10.213.255.254', 53);
  for (const name of ['api.test', 'evil.test']) {
    const message = question(name, types.A, { edns: false });
    await connection.write(Buffer.concat([numbers(message.length), message]));
  }
  await expect.poll(async () => (await connection.state()).bytes).toBe(2 + 26 + 16 + 2 + 27);
  await connection.end();
});

it('another resolver is asked where one does not answer', async () => {
  await net.zone('second.suffix.test', { addresses: [api] });
  await net.program.command({ resolvers: ['198.51.100.2', '203.0.113.53'] });
  expect(await net.resolve('second.suffix.test')).toEqual([api]);
  await net.program.command({ resolvers: [] });
  expect(await net.ask(question('second.suffix.test', types.A))).toMatchObject({ code: 2, addresses: [] });
});
