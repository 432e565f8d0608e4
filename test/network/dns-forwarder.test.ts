import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';
import { createTestHost, type Instance, inside, type Namespace, runDirOf, type TestHost } from './harness.ts';

const QUERIES_IN_FLIGHT = 64;
const CONNECTIONS_PER_SANDBOX = 8;
const QUERIES_PER_SECOND = 200;
const QUERY_BURST = 400;

interface Seen {
  name: string;
  type: number;
  id: number;
  port: number;
  transport: 'udp' | 'tcp';
}

let host: TestHost;
let instance: Instance;
let slot: Slot;
let sibling: Slot;
let machine: Namespace;
let first: Awaited<ReturnType<typeof startUpstream>>;
let second: Awaited<ReturnType<typeof startUpstream>>;

beforeAll(async () => {
  host = await createTestHost();
  first = await startUpstream('127.0.0.53', 'first');
  second = await startUpstream('127.0.0.54', 'second');
  instance = host.start();
  useResolvers('127.0.0.53');
  await instance.init();
  slot = await instance.acquire('sb_0000000000000001');
  sibling = await instance.acquire('sb_0000000000000002');
  machine = inside(slot);
});

afterAll(async () => {
  first?.stop();
  second?.stop();
  await host?.[Symbol.asyncDispose]();
});

async function startUpstream(address: string, greeting: string) {
  const child = spawn('nsenter', [
    `--net=${host.path}`,
    process.execPath,
    join(import.meta.dirname, 'upstream.ts'),
    address,
    greeting,
  ]);
  const seen: Seen[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => seen.push(JSON.parse(line)));
  await once(child.stdout, 'data');
  return {
    of: (name: string) => seen.filter((question) => question.name === name),
    stop: () => child.kill('SIGKILL'),
  };
}

function useResolvers(...addresses: string[]): void {
  const lines = addresses.map((address) => `nameserver ${address}\n`);
  writeFileSync(
    join(runDirOf(instance.id), 'resolv.conf'),
    `# the host's\nsearch example.org\n${lines.join('')}`,
  );
}

/** What a program in the namespace gets: the records, or the resolver library's error code. */
async function resolve(name: string, type = 'A', from = machine, server = slot.gateway): Promise<unknown> {
  return JSON.parse(await from.node(resolveCode, name, type, server));
}

const resolveCode = `
const [name, type, server] = process.argv.slice(1);
const resolver = new (require('dns').promises.Resolver)({ timeout: 1500, tries: 1 });
resolver.setServers([server]);
resolver.resolve(name, type).catch((error) => error.code).then((found) => console.log(JSON.stringify(found)));
`;

describe('a machine', () => {
  it('gets answers from the host’s resolver', async () => {
    expect(await resolve('public.test')).toEqual(['198.51.100.2']);
    expect(await resolve('greeting.test', 'TXT')).toEqual([['first']]);
  });

  it('gets a large answer by TCP', async () => {
    const records = (await resolve('large.test', 'TXT')) as string[][];
    expect(records.length).toBe(20);
    expect(first.of('large.test').map(({ transport }) => transport)).toContain('tcp');
  });

  it('gets the answer that a name does not exist', async () => {
    expect(await resolve('nothing.test')).toBe('ENOTFOUND');
  });

  it.each(['private', 'mixed', 'alias', 'loopback'])(
    'gets no answer that names a private address: %s',
    async (name) => {
      expect(await resolve(`${name}.test`)).toBe('ENOTFOUND');
      expect(first.of(`${name}.test`).length).toBeGreaterThan(0);
    },
  );

  it('gets no private IPv6 address in any answer', async () => {
    expect(await resolve('smuggled.test', 'TXT')).toBe('ENOTFOUND');
  });

  it('finds no IPv6 address for any name, and nobody is asked for one', async () => {
    expect(await resolve('public.test', 'AAAA')).toBe('ENODATA');
    expect(first.of('public.test').filter(({ type }) => type === 28)).toEqual([]);
  });

  it('gets an answer from the next resolver when one is not there', async () => {
    useResolvers('127.0.0.55', 'fe80::1%nowhere', '127.0.0.54');
    await expect.poll(() => resolve('greeting.test', 'TXT'), { timeout: 5_000 }).toEqual([['second']]);
  });

  it('gets answers from new resolvers soon after the host’s have changed', async () => {
    useResolvers('127.0.0.53');
    await expect.poll(() => resolve('greeting.test', 'TXT'), { timeout: 5_000 }).toEqual([['first']]);
  });
});

describe('the forwarder', () => {
  it('asks from random ports with random ids, and takes only the answer to its question', async () => {
    for (let i = 0; i < 8; i++) expect(await resolve('spoofed.test')).toEqual(['198.51.100.2']);
    const asked = first.of('spoofed.test');
    expect(new Set(asked.map(({ port }) => port)).size).toBeGreaterThan(6);
    expect(new Set(asked.map(({ id }) => id)).size).toBeGreaterThan(6);
  });

  it('bounds what one machine has waiting, and answers others meanwhile', async () => {
    const flood = machine.node(floodCode, slot.gateway, '300');
    await expect.poll(() => first.of('silent.test').length).toBe(QUERIES_IN_FLIGHT);
    expect(await resolve('public.test', 'A', inside(sibling))).toEqual(['198.51.100.2']);
    await flood;
    // Each is given up in time.
    await expect.poll(() => resolve('public.test'), { timeout: 8_000 }).toEqual(['198.51.100.2']);
  });

  it('bounds the TCP connections of one machine', async () => {
    const open = Number(await machine.node(connectCode, slot.gateway, '40'));
    expect(open).toBeGreaterThan(0);
    expect(open).toBeLessThanOrEqual(CONNECTIONS_PER_SANDBOX);
  });

  it('ends a TCP connection that announces a query over 1,024 bytes at once, and one that is idle in time', async () => {
    const [oversized, idle] = ['0401', '0400'].map((length) => machine.node(endedCode, slot.gateway, length));
    expect(Number(await oversized)).toBeLessThan(10_000);
    expect(Number(await idle)).toBeGreaterThanOrEqual(10_000);
  });

  it('answers one machine by TCP no more often than by UDP, and others meanwhile', async () => {
    const flood = machine.node(refusedCode, slot.gateway, '3000');
    const over = flood.then(() => 'only after the flood');
    const beside = () => Promise.race([resolve('public.test', 'A', inside(sibling)), over]);
    for (let asked = 0; asked < 2; asked++) expect(await beside()).toEqual(['198.51.100.2']);
    const answers = Number(await flood);
    expect(answers).toBeGreaterThan(QUERY_BURST / 2);
    expect(answers).toBeLessThan(QUERY_BURST + QUERIES_PER_SECOND * 5);
  });

  it('answers nobody but its machines, with or without the firewall', async () => {
    const neighbour = host.start();
    await neighbour.init();
    const cousin = await neighbour.acquire('sb_0000000000000003');
    const strangers = [inside(cousin), host, host.outside];
    await host.outside.run('ip', 'route', 'add', slot.gateway, 'via', '198.51.100.1');
    const askAll = () => Promise.all(strangers.map((from) => resolve('public.test', 'A', from)));
    for (const outcome of await askAll()) expect(outcome).toMatch(/ETIMEOUT|ECONNREFUSED/);
    await neighbour.kill();
    await host.run('nft', 'flush', 'ruleset');
    for (const outcome of await askAll()) expect(outcome).toMatch(/ETIMEOUT|ECONNREFUSED/);
    await expect.poll(() => host.run('nft', 'list', 'tables'), { timeout: 5_000 }).toContain(instance.id);
  });

  it('survives what is no query', async () => {
    await machine.node(garbageCode, slot.gateway);
    expect(await resolve('public.test')).toEqual(['198.51.100.2']);
  });
});

const floodCode = `
const [server, count] = process.argv.slice(1);
const question = Buffer.from('000001000001000000000000' + '0673696c656e74' + '0474657374' + '00' + '00010001', 'hex');
const socket = require('dgram').createSocket('udp4');
for (let i = 0; i < Number(count); i++) {
  question.writeUInt16BE(i, 0);
  socket.send(Buffer.from(question), 53, server);
}
setTimeout(() => socket.close(), 500);
`;

/** Queries that are refused at once, as many as go out in so many milliseconds; prints how many were answered. */
const refusedCode = `
const [server, milliseconds] = process.argv.slice(1);
const query = Buffer.from('000c' + '000108000000000000000000', 'hex');
const many = Buffer.concat(Array(4000).fill(query));
let answers = 0;
for (let i = 0; i < 8; i++) {
  const socket = require('net').connect({ host: server, port: 53 });
  const go = () => { while (socket.write(many)); };
  socket.on('connect', go).on('drain', go).on('error', () => {});
  socket.on('data', (data) => { answers += data.length / 14; });
}
setTimeout(() => { console.log(Math.round(answers)); process.exit(); }, Number(milliseconds));
`;

const connectCode = `
const [server, count] = process.argv.slice(1);
let open = 0;
for (let i = 0; i < Number(count); i++) {
  const socket = require('net').connect({ host: server, port: 53 }, () => open++);
  socket.on('close', () => open--).on('error', () => open++);
}
setTimeout(() => { console.log(open); process.exit(); }, 700);
`;

/** Sends these bytes and no more; prints after how many milliseconds the connection was ended. */
const endedCode = `
const [server, hex] = process.argv.slice(1);
const socket = require('net').connect({ host: server, port: 53 });
let begun = 0;
socket.on('connect', () => { begun = performance.now(); socket.write(Buffer.from(hex, 'hex')); });
socket.on('close', () => console.log(Math.ceil(performance.now() - begun))).on('error', () => {}).resume();
`;

const garbageCode = `
const [server] = process.argv.slice(1);
const { randomBytes } = require('crypto');
const socket = require('dgram').createSocket('udp4');
for (let i = 0; i < 150; i++) socket.send(randomBytes(i * 9), 53, server);
const tcp = require('net').connect({ host: server, port: 53 }, () => tcp.write(Buffer.from([255, 255, 1, 2, 3])));
tcp.on('close', () => socket.close()).on('error', () => {});
`;
