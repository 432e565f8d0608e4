/** Changes of policies, and the beginning and the end of the program. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInternet, type Internet, neighbour, sandbox } from './support/harness.ts';
import { hello } from './support/messages.ts';

const api = '203.0.113.10';
const denied = 7;

let net: Internet;
let resolvedAt: number;

beforeAll(async () => {
  net = await createInternet();
  await net.zone('api.test', { addresses: [api] });
  await net.zone('old.test', { addresses: ['203.0.113.20'], ttl: 1 });
  await net.program.allow(neighbour, ['https://old.test']);
  await net.resolve('old.test', neighbour);
  resolvedAt = performance.now();
});

afterAll(() => net[Symbol.asyncDispose]());

beforeEach(async () => {
  await net.program.allow(sandbox, ['tcp://api.test:9000', 'https://api.test', 'http://api.test']);
  expect(await net.resolve('api.test')).toEqual([api]);
});

async function download() {
  const connection = await net.connect(api, 9000);
  await connection.write('go');
  await expect.poll(async () => (await connection.state()).bytes).toBeGreaterThan(1 << 20);
  return connection;
}

describe('a policy that is withdrawn', () => {
  it('ends a download before it is done, and no byte comes after', async () => {
    const connection = await download();
    await net.program.allow(sandbox, ['https://api.test']);
    const { ended, bytes } = await connection.over();
    expect(ended).toBe('reset');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await connection.state()).bytes).toBe(bytes);
    const event = { kind: 'tcp', name: 'api.test', allowed: true, why: 'it is no longer allowed' };
    await expect
      .poll(() => net.program.events.filter(({ ended: isEnd }) => isEnd))
      .toEqual([expect.objectContaining(event)]);
  });

  it('ends a kept HTTP connection', async () => {
    const connection = await net.connect(api, 80);
    await connection.write('GET / HTTP/1.1\r\nHost: api.test\r\n\r\n');
    await expect.poll(async () => (await connection.state()).bytes).toBeGreaterThan(0);
    await net.program.allow(sandbox, ['https://api.test']);
    expect((await connection.over()).ended).toBe('reset');
  });

  it('ends everything of a sandbox that is dropped', async () => {
    const connection = await download();
    await net.program.command({ drop: { address: sandbox } });
    expect((await connection.over()).ended).toBe('reset');
    expect((await net.talk(api, 443, hello(['api.test']))).ended).toBe('reset');
  });

  it('ends everything where another sandbox gets the address', async () => {
    const connection = await download();
    await net.program.allow(sandbox, ['tcp://api.test:9000'], { id: 'sb_next' });
    expect((await connection.over()).ended).toBe('reset');
    expect((await net.talk(api, 9000, Buffer.from([0]))).ended).toBe('reset');
  });
});

it('a policy that still allows a connection leaves it alone', async () => {
  const connection = await download();
  await net.program.allow(sandbox, ['tcp://*.test:9000', 'tcp://api.test:9000']);
  const { bytes } = await connection.state();
  await expect.poll(async () => (await connection.state()).bytes).toBeGreaterThan(bytes + (1 << 20));
  await net.program.command({ drop: { address: sandbox } });
  await connection.over();
});

it('a command that fails changes nothing', async () => {
  const broken = { address: sandbox, sandbox: 'sb_x', owner: 'us_1', rules: [{ text: 'x' }] };
  await expect(net.program.command({ set: broken })).rejects.toThrow('missing field');
  await expect(net.program.command({ drop: { address: 'nowhere' } })).rejects.toThrow();
  await expect(net.program.command({ other: 1 })).rejects.toThrow();
  const connection = await net.connect(api, 443);
  await connection.write(hello(['api.test']));
  await connection.end();
  expect((await connection.over()).ended).toBe('end');
});

describe('the program', () => {
  it('has no rights: nobody’s ids, no capability, no new privileges, a filter of system calls', () => {
    const status = readFileSync(`/proc/${net.program.child.pid}/status`, 'utf8');
    const of = (field: string) => new RegExp(`^${field}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.split('\t');
    expect(of('Uid')).toEqual(Array(4).fill('65534'));
    expect(of('Gid')).toEqual(Array(4).fill('65534'));
    expect(of('Groups')?.[0]?.trim()).toBe('');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) expect(of(set)).toEqual(['0000000000000000']);
    expect(of('NoNewPrivs')).toEqual(['1']);
    expect(of('Seccomp')).toEqual(['2']);
  });

  it('has no files: its root is empty', () => {
    expect(readdirSync(`/proc/${net.program.child.pid}/root/`)).toEqual([]);
  });
});

describe('while the program is not there', () => {
  it('killed, it leaves nothing open and lets nothing pass', async () => {
    await using own = await createInternet();
    await own.zone('api.test', { addresses: [api] });
    await own.program.allow(sandbox, ['tcp://api.test:9000']);
    await own.resolve('api.test');
    const connection = await own.connect(api, 9000);
    await connection.write('go');
    await expect.poll(async () => (await connection.state()).bytes).toBeGreaterThan(1 << 20);
    await own.program.kill();
    expect((await connection.over()).ended).toBe('reset');
    await own.seen();
    await expect(own.connect(api, 9000)).rejects.toThrow('ECONNREFUSED');
    expect(await own.resolve('api.test')).toEqual([]);
    expect(await own.seen()).toEqual([]);
  });

  it('it ends with its standard input, by 0', async () => {
    await using own = await createInternet();
    own.program.child.stdin?.end();
    expect(await once(own.program.child, 'exit')).toEqual([0, null]);
  });

  it('it ends at a command without end, by 1', async () => {
    await using own = await createInternet();
    own.program.send('x'.repeat(1024 * 1024 + 10));
    expect(await once(own.program.child, 'exit')).toEqual([1, null]);
  });
});

it('an address counts no longer than its time, which is two minutes at least', {
  timeout: 180_000,
}, async () => {
  const sinceResolved = () => performance.now() - resolvedAt;
  const ask = async () => (await net.talk('203.0.113.20', 443, hello(['old.test']), neighbour)).bytes;
  const connection = await net.connect('203.0.113.20', 443, neighbour);
  await connection.write(hello(['old.test']));
  await connection.end();
  if (sinceResolved() < 115_000) expect((await connection.over()).bytes).toBeGreaterThan(denied);
  await new Promise((resolve) => setTimeout(resolve, 121_000 - sinceResolved()));
  expect(await ask()).toBe(denied);
});
