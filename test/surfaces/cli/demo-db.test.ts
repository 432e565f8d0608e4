/** `sandhaven demo-db` as its users have it, with the real image in a sandbox of a real service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { demoDb } from '../../../src/demo-database/demo-db.ts';
import { buildDocumentDbImage, builtRecipe } from '../../../src/runtime/images/build-image.ts';
import { bin, call, must, type Service, startService } from '../../support/service.ts';
import { cliFor } from './cli-harness.ts';

const READY_MS = 180_000;

interface Told {
  connection_string: string;
  sandbox: string;
  host: string;
  port: number;
  loaded: boolean;
  databases: { shop: Record<string, number> };
}

let service: Service;
/** Its next process, at the same address. */
let again: Service | null = null;
const children: ChildProcess[] = [];

beforeAll(async () => {
  service = await startService();
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await again?.terminate();
  await service?.stop();
});

function start(...args: string[]) {
  const { url, apiKey } = service;
  const env = { ...process.env, SANDBOX_API_URL: url, SANDBOX_API_KEY: apiKey };
  const child = spawn(bin, ['demo-db', '--json', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let progress = '';
  child.stderr.on('data', (chunk) => {
    progress += chunk;
  });
  return { child, line: once(createInterface({ input: child.stdout }), 'line'), progress: () => progress };
}

async function ready(...args: string[]): Promise<{ told: Told; interrupt(): Promise<number | null> }> {
  const { child, line, progress } = start(...args);
  const ended = once(child, 'close').then(() => Promise.reject(new Error(progress())));
  ended.catch(() => {});
  const [text] = await Promise.race([line, ended]);
  return { told: JSON.parse(text), interrupt: () => interrupt(child) };
}

async function interrupt(child: ChildProcess): Promise<number | null> {
  child.kill('SIGINT');
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** For what ends by itself: in this process, where nothing has to be loaded for each. */
function run(...args: string[]) {
  const { url, apiKey } = service;
  const parts = { buildImage: buildDocumentDbImage, builtRecipe };
  const commands = { 'demo-db': { summary: 'run it', ...demoDb(parts) } };
  const env = { SANDBOX_API_URL: url, SANDBOX_API_KEY: apiKey };
  return cliFor(url)(['demo-db', ...args], { env, commands });
}

async function withReader<T>(told: Told, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(told.connection_string, { serverSelectionTimeoutMS: 5_000 });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

describe('sandhaven demo-db', () => {
  it(
    'makes a database with data, gives a user who may only read, and goes on with both',
    async () => {
      const first = await ready('--documents', '400', '--listen', '0');
      expect(first.told).toMatchObject({ sandbox: 'demo-db', host: '127.0.0.1', loaded: true });
      await withReader(first.told, async (client) => {
        const shop = client.db('shop');
        expect(await shop.collection('orders').countDocuments()).toBe(first.told.databases.shop['orders']);
        await expect(shop.collection('orders').insertOne({})).rejects.toMatchObject({ code: 13 });
        await expect(shop.dropDatabase()).rejects.toMatchObject({ code: 13 });
      });
      expect(await first.interrupt()).toBe(0);
      const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b);
      expect(sum(first.told.databases.shop)).toBe(400);

      await must(service, 'StopSandbox', { sandbox: 'demo-db' });
      const second = await ready('--listen', '0');
      expect(second.told).toMatchObject({ loaded: false, databases: first.told.databases });
      const { username, password } = new URL(first.told.connection_string);
      expect(new URL(second.told.connection_string)).toMatchObject({ username, password });
      expect(password).toMatch(/^[0-9a-f]{32}$/);
      await second.interrupt();

      // Neither does the service log it nor does a sandbox show it.
      const { body } = await call(service, 'GetSandbox', { sandbox: 'demo-db' });
      expect(`${service.log()} ${JSON.stringify(body)}`).not.toContain(password);
    },
    READY_MS,
  );

  it(
    'loads anew what an interrupt left half-loaded',
    async () => {
      const { child, progress } = start('--documents', '20000', '--listen', '0');
      await expect.poll(progress, { timeout: READY_MS, interval: 20 }).toContain('looking for the 20000');
      expect(await interrupt(child)).toBe(130);
      const second = await ready('--documents', '300', '--listen', '0');
      expect(second.told.loaded).toBe(true);
      await withReader(second.told, async (client) => {
        const { orders, events } = second.told.databases.shop;
        expect(await client.db('shop').collection('orders').countDocuments()).toBe(orders);
        expect(await client.db('shop').collection('events').countDocuments()).toBe(events);
      });
      await second.interrupt();
    },
    READY_MS,
  );

  it(
    'goes on through a restart of the service',
    async () => {
      const port = new URL(service.url).port;
      const { told, interrupt } = await ready('--listen', '0');
      await service.terminate();
      again = await startService({
        dataDir: service.dataDir,
        flags: ['--listen', `127.0.0.1:${port}`],
        env: { SANDBOX_API_KEY: service.apiKey, DOCUMENTDB_CONNECTION_STRING: told.connection_string },
      });
      const response = await fetch(`${again.url}/v1/tools/DocumentDb.DiscoverDatabases`, {
        method: 'POST',
        headers: { authorization: `Bearer ${again.apiKey}`, 'content-type': 'application/json' },
        body: '{}',
      });
      expect(JSON.stringify(await response.json())).toContain('shop');
      await interrupt();
    },
    READY_MS,
  );

  it('refuses what it cannot do, in words', async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await run(...args);
      return [code, stderr];
    };
    expect(await refused('--documents', '1')).toEqual([2, expect.stringContaining('--documents must be')]);
    expect(await refused('--listen', 'x')).toEqual([2, expect.stringContaining('--listen must be')]);
    expect(await refused('more')).toEqual([2, expect.stringContaining("'more'")]);
    expect(await refused('--image', 'mongo:8')).toEqual([5, expect.stringContaining('--remove')]);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    expect(await refused('--listen', `${port}`)).toEqual([
      5,
      expect.stringContaining('already in use by another program'),
    ]);
    other.close();
  });

  it('removes it, whether it is there or not, and nobody else’s sandbox of that name', async () => {
    expect(await run('--remove')).toMatchObject({ code: 0, stdout: '' });
    expect((await call(service, 'GetSandbox', { sandbox: 'demo-db' })).status).toBe(404);
    const { snapshots } = (await must(service, 'ListSnapshots')) as { snapshots: { name: string }[] };
    expect(snapshots.map(({ name }) => name)).toEqual(['base']);
    expect(await run('--remove')).toMatchObject({ code: 0 });
    await must(service, 'CreateSandbox', { name: 'demo-db', memory_gb: 1, disk_gb: 1 });
    const { code, stderr } = await run('--listen', '0');
    expect([code, stderr]).toEqual([5, expect.stringContaining('is no demo database')]);
    expect((await run('--remove')).code).toBe(5);
    expect((await call(service, 'GetSandbox', { sandbox: 'demo-db' })).status).toBe(200);
  });
});
