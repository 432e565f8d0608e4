/** Odd questions and odd answers of DNS, and data that questions carry. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInternet, gateway, type Internet, sandbox } from './support/harness.ts';
import { encodeName, hello, numbers, question, sized, types } from './support/messages.ts';

const api = '203.0.113.10';
const elsewhere = '203.0.113.66';
const code = { malformed: 1, failure: 2, noSuchName: 3, notImplemented: 4, refused: 5 };
const accessDenied = '15030100020231';

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.program.allow(sandbox, ['https://api.test', 'https://*.suffix.test']);
  await net.zone('api.test', { addresses: [api] });
});

afterAll(() => net[Symbol.asyncDispose]());

const asked = () => net.outside.call<string[]>('asked');
const questions = () => net.outside.call<string[]>('questions');
const head = numbers(1, 0x0100, 1, 0, 0, 0);
const ofLabels = (...labels: (string | Buffer)[]) =>
  Buffer.concat([
    head,
    ...labels.map((label) => sized(1, Buffer.from(label))),
    Buffer.alloc(1),
    numbers(types.A, 1),
  ]);
const operation = (number: number) =>
  Buffer.concat([numbers(1, number << 11, 1, 0, 0, 0), encodeName('api.test'), numbers(types.A, 1)]);

beforeEach(async () => {
  await asked();
  await questions();
});

describe('nobody else is asked for', () => {
  it.each<[string, number, Buffer]>([
    ['a label of 64 bytes', code.malformed, ofLabels('a'.repeat(64), 'suffix', 'test')],
    ['a name of 256 bytes', code.malformed, ofLabels(...Array(4).fill('a'.repeat(60)), 'suffix', 'test')],
    ['a name that points to itself', code.malformed, Buffer.concat([head, numbers(0xc00c, types.A, 1)])],
    ['a name without its end', code.malformed, Buffer.concat([head, Buffer.from([3, 97, 112])])],
    ['a name with a zero byte', code.noSuchName, ofLabels('api\0', 'test')],
    ['a name in UTF-8', code.noSuchName, ofLabels('ápi', 'test')],
    ['a name with a blank', code.noSuchName, ofLabels('a b', 'suffix', 'test')],
    ['a wildcard', code.noSuchName, ofLabels('*', 'suffix', 'test')],
    ['a punycode name of no rule', code.noSuchName, ofLabels('xn--pi-8ia', 'test')],
    ['an address as a name', code.noSuchName, ofLabels('203', '0', '113', '66')],
    ['the root', code.noSuchName, ofLabels()],
    ['a service of an allowed name', code.noSuchName, question('_https._tcp.api.test', types.A)],
    ['an update', code.notImplemented, operation(5)],
    ['a notification', code.notImplemented, operation(4)],
    ['the state of a server', code.notImplemented, operation(2)],
  ])('%s', async (_what, expected, message) => {
    expect(await net.ask(message)).toMatchObject({ code: expected, addresses: [] });
    expect(await asked()).toEqual([]);
  });

  it.each([
    ['NS', 2],
    ['SOA', 6],
    ['PTR', 12],
    ['SRV', 33],
    ['NAPTR', 35],
    ['DNSKEY', 48],
    ['CAA', 257],
    ['zone transfer (AXFR)', 252],
    ['a type of private use', 65_280],
  ])('records of an allowed name of the type %s', async (_what, type) => {
    expect(await net.ask(question('data.suffix.test', type))).toMatchObject({
      code: code.refused,
      addresses: [],
    });
    expect(await asked()).toEqual([]);
  });

  it('what follows a message that is no question, on a connection', async () => {
    const connection = await net.connect(gateway, 53);
    await connection.write(Buffer.concat([numbers(65_535), question('api.test', types.A)]));
    expect((await connection.over()).bytes).toBe(0);
    expect(await asked()).toEqual([]);
  });
});

describe('a question upstream has nothing of', () => {
  it('the case of letters', async () => {
    expect(await net.resolve('aPi.TeSt')).toEqual([api]);
    expect(await asked()).toEqual(['api.test 1']);
  });

  it('options of the question', async () => {
    const option = Buffer.concat([numbers(65_001), sized(2, Buffer.from('stolen data'))]);
    const plain = question('api.test', types.A).subarray(0, -2);
    expect(await net.ask(Buffer.concat([plain, sized(2, option)]))).toMatchObject({ addresses: [api] });
    const [heard = ''] = await questions();
    expect(heard).toContain('\x03api\x04test');
    expect(heard).not.toContain('stolen');
  });

  it('the number and the flags of the question', async () => {
    const plain = question('api.test', types.A, { edns: false, id: 0x7a7a });
    plain.writeUInt16BE(0x0170, 2);
    expect(await net.ask(plain)).toMatchObject({ addresses: [api] });
    const [heard = ''] = await questions();
    expect(heard.slice(2, 4)).toBe('\x01\x00');
  });
});

describe('an answer gives nothing that', () => {
  const tls = async (to: string, name: string) =>
    (await net.talk(to, 443, hello([name]))).head.toString('hex');

  it('says there is no such name and has an address', async () => {
    await net.zone('gone.suffix.test', { addresses: [elsewhere], code: 3 });
    expect(await net.ask(question('gone.suffix.test', types.A))).toMatchObject({
      code: code.noSuchName,
      addresses: [],
    });
    expect(await tls(elsewhere, 'gone.suffix.test')).toBe(accessDenied);
  });

  it('says that it failed and has an address', async () => {
    await net.zone('broken.suffix.test', { addresses: [elsewhere], code: 2 });
    expect(await net.ask(question('broken.suffix.test', types.A))).toMatchObject({
      code: code.failure,
      addresses: [],
    });
    expect(await tls(elsewhere, 'broken.suffix.test')).toBe(accessDenied);
  });

  it('has addresses of names that nobody asked for', async () => {
    const others = [{ name: 'api.test', address: elsewhere }];
    await net.zone('poison.suffix.test', { addresses: ['203.0.113.30'], others });
    expect(await net.resolve('poison.suffix.test')).toEqual(['203.0.113.30']);
    expect(await tls(elsewhere, 'api.test')).toBe(accessDenied);
    expect(await tls(elsewhere, 'poison.suffix.test')).toBe(accessDenied);
  });

  it.each([
    ['goes in a circle of aliases', ['other.test', 'round.suffix.test']],
    ['has more aliases than a chain may have', Array.from({ length: 20 }, (_, at) => `a${at}.test`)],
  ])('%s', async (_what, aliases) => {
    await net.zone('round.suffix.test', { addresses: aliases.length > 2 ? [elsewhere] : [], aliases });
    expect(await net.ask(question('round.suffix.test', types.A))).toMatchObject({
      code: code.failure,
      addresses: [],
    });
    expect(await tls(elsewhere, 'round.suffix.test')).toBe(accessDenied);
  });

  it('leads from a public address to a private one (rebinding, with a life of zero)', async () => {
    await net.zone('turn.suffix.test', { addresses: ['203.0.113.31'], ttl: 0 });
    expect(await net.ask(question('turn.suffix.test', types.A))).toMatchObject({
      addresses: ['203.0.113.31'],
      ttl: 0,
    });
    await net.zone('turn.suffix.test', { addresses: ['10.77.0.1'], ttl: 0 });
    expect(await net.ask(question('turn.suffix.test', types.A))).toMatchObject({
      code: code.refused,
      addresses: [],
    });
    expect((await net.talk('10.77.0.1', 443, hello(['turn.suffix.test']))).ended).toBe('reset');
  });

  it('leads to a public address of the host itself', async () => {
    await net.zone('home.suffix.test', { addresses: ['198.51.100.1'] });
    expect(await net.resolve('home.suffix.test')).toEqual(['198.51.100.1']);
    expect((await net.talk('198.51.100.1', 443, hello(['home.suffix.test']))).ended).toBe('reset');
  });

  it('lives for years: an hour is the most', async () => {
    await net.zone('old.suffix.test', { addresses: ['203.0.113.32'], ttl: 0x7fffffff });
    expect(await net.ask(question('old.suffix.test', types.A))).toMatchObject({ ttl: 3_600 });
  });
});

describe('data in names', () => {
  const long = (at: number) => `${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.d${at}`;
  const askMany = (below: string) =>
    Promise.all(
      Array.from({ length: 2_000 }, (_, at) =>
        net.inside.call('askUdp', {
          ...{ from: sandbox, host: gateway, timeoutMs: 100 },
          message: question(`${long(at)}.${below}`, types.A).toString('base64'),
        }),
      ),
    );

  it('below a suffix passes at 200 names a second, and is in the events', async () => {
    const before = net.program.events.length;
    const start = performance.now();
    await askMany('suffix.test');
    const most = 400 + ((performance.now() - start) / 1_000 + 0.1) * 200;
    const passed = new Set(await asked()).size;
    expect(passed).toBeGreaterThan(50);
    expect(passed).toBeLessThanOrEqual(most);
    const counted = () => net.program.events.slice(before).reduce((sum, { dropped = 1 }) => sum + dropped, 0);
    await expect.poll(counted).toBeGreaterThanOrEqual(passed);
    expect(net.program.events.slice(before)).toContainEqual(
      expect.objectContaining({ kind: 'dns', allowed: true, rule: 'https://*.suffix.test' }),
    );
  });

  it('below a name of no rule passes nowhere, and is in the events', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const before = net.program.events.length;
    await askMany('evil.test');
    expect(await asked()).toEqual([]);
    const counted = () => net.program.events.slice(before).reduce((sum, { dropped = 1 }) => sum + dropped, 0);
    await expect.poll(counted).toBeGreaterThan(300);
  });
});
