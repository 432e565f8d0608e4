/** Traffic of a day with real machines: what counts, what a refusal does, and what outlives a killed service. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { createTestHost, type Instance, inside, publicAddress, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import { connectTcp, openConnection, type Server, serve } from '../probe.ts';
import { download, serveBytes, source } from './transfers.ts';

const MB = 1e6;
const day = '2026-01-05';
const port = 18_110;
const id = (number: number) => `sb_${String(number).padStart(16, '0')}`;
const [heavy, light] = [id(1), id(2)];
const owners = { [heavy]: 'user_a', [light]: 'user_b' };
const notesFile = `/tmp/sandhaven-day-${process.pid}`;

let host: TestHost;
let bytes: Disposable;
let server: Server;
let instance: Instance;

beforeAll(async () => {
  host = await createTestHost();
  bytes = await serveBytes(host.outside);
  server = await serve(host.outside, port);
});

afterEach(async () => {
  await instance.purge();
  rmSync(notesFile, { force: true });
});

afterAll(async () => {
  bytes?.[Symbol.dispose]();
  server?.[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
  rmSync(notesFile, { force: true });
});

async function started(options: object = {}): Promise<Instance> {
  const watch = { notesFile, day, quotas: { user_a: { traffic: 1 } } };
  instance = host.start({ owners, watch, egressPath: join(NATIVE, 'sandhaven-egress'), ...options });
  await instance.init();
  return instance;
}

/** Notes that an owner has used a GB but for some bytes. */
function usedAllBut(left: number): void {
  const used = ['user_a', 1e9 - left, 0, 0];
  writeFileSync(notesFile, JSON.stringify({ day, owners: [used], sandboxes: [] }));
}

it('counts what passes, forwarded and through the egress program alike', async () => {
  await started();
  const forwarded = await instance.acquire(heavy);
  const gated = await instance.acquire(
    light,
    rules(`tcp://${publicAddress}:1`, `https://${publicAddress}:${source}`),
  );
  using down = await download(inside(forwarded), publicAddress);
  await expect.poll(() => down.count()).toBeGreaterThan(5 * MB);
  // The gate waits for what the client says; a refusal by it counts as what came.
  expect(await connectTcp(inside(gated), publicAddress, source)).not.toBe('hello');
  await instance.settle();
  const { today } = await instance.traffic(heavy);
  expect(today.receivedBytes).toBeGreaterThan(5 * MB);
  expect(today.sentBytes).toBeGreaterThan(1_000);
  expect(today.sentBytes).toBeLessThan(today.receivedBytes / 4);
  const through = (await instance.traffic(light)).today;
  expect(through.sentBytes).toBeGreaterThan(100);
  expect(through.receivedBytes).toBeGreaterThan(40);
});

it('refuses the network to whom has used it up, ends what is open, and leaves others alone', async () => {
  usedAllBut(3 * MB);
  await started();
  const [one, two] = [inside(await instance.acquire(heavy)), inside(await instance.acquire(light))];
  using ended = await openConnection(one, publicAddress, port);
  using untouched = await openConnection(two, publicAddress, port);
  const down = await download(one, publicAddress);
  await expect.poll(async () => (await instance.traffic(heavy)).usedUp).toBe('owner');
  down[Symbol.dispose]();
  const [endedAt, untouchedAt] = [ended.count(), untouched.count()];
  expect(await connectTcp(one, publicAddress, port)).toBe('EHOSTUNREACH');
  expect(await connectTcp(two, publicAddress, port)).toBe('hello');
  await expect.poll(() => untouched.count()).toBeGreaterThan(untouchedAt + 3);
  expect(ended.count()).toBe(endedAt);
});

it('refuses on after the service was killed, until the next day', async () => {
  usedAllBut(0);
  await started();
  const slot = await instance.acquire(heavy);
  await expect.poll(() => connectTcp(inside(slot), publicAddress, port)).toBe('EHOSTUNREACH');
  const { id: instanceId } = instance;
  await instance.kill();
  expect(await connectTcp(inside(slot), publicAddress, port)).toBe('EHOSTUNREACH');
  await started({ instanceId });
  expect(await connectTcp(inside(slot), publicAddress, port)).toBe('EHOSTUNREACH');
  await instance.setDay('2026-01-06');
  await expect.poll(() => connectTcp(inside(slot), publicAddress, port)).toBe('hello');
  // The connection is let in before the figures say so.
  await expect.poll(async () => (await instance.traffic(heavy)).usedUp).toBeNull();
});

it('counts what passes while no service runs, once', async () => {
  await started();
  const slot = await instance.acquire(heavy);
  await instance.settle();
  const { id: instanceId } = instance;
  await instance.close();
  await instance.kill();
  const down = await download(inside(slot), publicAddress);
  await expect.poll(() => down.count()).toBeGreaterThan(5 * MB);
  down[Symbol.dispose]();
  const passed = down.count();
  await started({ instanceId });
  await instance.settle();
  const { receivedBytes } = (await instance.traffic(heavy)).today;
  expect(receivedBytes).toBeGreaterThan(passed);
  expect(receivedBytes).toBeLessThan(1.5 * passed + 10 * MB);
});

it('has its table again after another program has removed it', async () => {
  await started();
  const slot = await instance.acquire(heavy);
  await host.run('nft', 'delete', 'table', 'inet', `sandhaven_${instance.id}_traffic`);
  await instance.settle();
  using down = await download(inside(slot), publicAddress);
  await expect.poll(() => down.count()).toBeGreaterThan(MB);
  await instance.settle();
  expect((await instance.traffic(heavy)).today.receivedBytes).toBeGreaterThan(MB);
});
