/** An open policy: all that is public passes, unopened, and is reported with the names that it shows. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createInternet, type Internet, sandbox } from './support/harness.ts';
import { hello, question, types } from './support/messages.ts';
import { compileRule } from './support/rules.ts';

const api = '203.0.113.10';
const other = '203.0.113.77';

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.zone('any.test', { addresses: [api] });
  await net.zone('inner.test', { addresses: ['10.0.0.7'] });
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(() => set(true));

const set = (open: boolean, ...rules: string[]) =>
  net.program.command({
    set: { address: sandbox, sandbox: 'sb_1', owner: 'us_1', rules: rules.map(compileRule), open },
  });

const allowed = (kind: string, name: string | null, port: number | null, rule: string | null = null) =>
  expect.objectContaining({ sandbox: 'sb_1', kind, name, port, rule, allowed: true });

const reported = () => expect.poll(() => net.program.events);

async function expectEcho(to: string, port: number, bytes: Buffer | string): Promise<void> {
  const connection = await net.connect(to, port);
  await connection.write(bytes);
  await connection.end();
  const { head, ended } = await connection.over();
  expect([head, ended]).toEqual([Buffer.from(bytes as string, 'latin1'), 'end']);
}

it('resolves every public name, and reports it', async () => {
  expect(await net.resolve('any.test')).toEqual([api]);
  await reported().toContainEqual(allowed('dns', 'any.test', null));
  expect((await net.ask(question('inner.test', types.A)))?.addresses).toEqual([]);
});

it('passes TLS to any public address, under any name', async () => {
  await expectEcho(other, 443, hello(['never-resolved.test']));
  await reported().toContainEqual(allowed('tls', 'never-resolved.test', 443));
});

it('passes HTTP as it is, and reports its host', async () => {
  const odd = 'GET / HTTP/1.1\r\nHost: any.test\r\nTransfer-Encoding: odd\r\nConnection: close\r\n\r\n';
  const { head } = await net.talk(other, 80, 'GET / HTTP/1.1\r\nHost: any.test\r\nConnection: close\r\n\r\n');
  expect(head.toString()).toContain('GET any.test/ ');
  await reported().toContainEqual(allowed('http', 'any.test', 80));
  await net.talk(other, 80, odd);
  expect((await net.seen()).at(-1)?.text).toBe(odd);
});

it('passes other protocols, also where the server speaks first, under a name that was resolved', async () => {
  await net.resolve('any.test');
  const ssh = await net.connect(api, 22);
  await expect.poll(async () => (await ssh.state()).head.toString()).toBe('SSH-2.0-test\r\n');
  await ssh.end();
  await expectEcho(other, 5000, '\x00neither TLS nor HTTP');
  await expectEcho(other, 5000, '\x16\x03\x01\x00\x05wrong');
  await reported().toContainEqual(allowed('tcp', 'any.test', 22));
  await reported().toContainEqual(allowed('tcp', null, 5000));
});

it('names the rule that would allow it too', async () => {
  await set(true, 'https://any.test');
  await net.resolve('any.test');
  await expectEcho(api, 443, hello(['any.test']));
  await reported().toContainEqual(allowed('tls', 'any.test', 443, 'https://any.test'));
});

it('passes nothing to addresses that are not public', async () => {
  const connection = await net.connect('10.77.0.1', 443);
  expect((await connection.over()).ended).toBe('reset');
  await reported().toContainEqual(
    expect.objectContaining({
      address: '10.77.0.1',
      allowed: false,
      why: expect.stringContaining('not public'),
    }),
  );
});

it('ends what it let through when it is open no more, whatever the rules', async () => {
  await net.resolve('any.test');
  const connection = await net.connect(api, 443);
  await connection.write(hello(['any.test']));
  await expect.poll(async () => (await connection.state()).bytes).toBeGreaterThan(0);
  await set(false, 'https://any.test');
  expect((await connection.over()).ended).toBe('reset');
  expect(await net.resolve('another.test')).toEqual([]);
});
