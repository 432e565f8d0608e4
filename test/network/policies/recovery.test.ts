/** Policies over restarts of the service, and after other programs' changes of the table. */
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { inPart } from '../../deep/parts.ts';
import { createTestHost, type Instance, inside, publicAddress, runDirOf, type TestHost } from '../harness.ts';
import { connectTcp, type Server, serve } from '../probe.ts';
import { fakeEgress } from './fake-egress.ts';
import { open, rules } from './rules.ts';
import { tryInALoop } from './try-in-a-loop.ts';

const port = 18_087;
/** A port of the outside that no policy of these tests allows. */
const forbidden = 18_088;
const RESTARTS = inPart('network') ? 3 : 1;
/** Each closes and opens again. */
const CHANGES = inPart('network') ? 2 : 1;
let host: TestHost;
const servers: Server[] = [];

beforeAll(async () => {
  host = await createTestHost();
  servers.push(await serve(host.outside, port), await serve(host.outside, forbidden));
});

afterAll(async () => {
  for (const server of servers) server[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

const granted = rules(`tcp://${publicAddress}:${port}`);
const sandbox = (number: number) => `sb_${String(number).padStart(16, '0')}`;

async function started(options: object = {}): Promise<Instance> {
  const instance = host.start({ poolSize: 1, egressPath: fakeEgress(host), ...options });
  await instance.init();
  return instance;
}

const connects = (slot: Slot, to = port) => connectTcp(inside(slot), publicAddress, to);

describe('after kill -9', () => {
  it('policies stay in force without a gap: no packet too much, and none too few', async () => {
    let instance = await started();
    const slots = [
      await instance.acquire(sandbox(1), open),
      await instance.acquire(sandbox(2), granted),
      await instance.acquire(sandbox(3), granted),
      await instance.acquire(sandbox(4), { mode: 'none' }),
    ] as const;
    using openTo = await tryInALoop(slots[0], port);
    using allowed = await tryInALoop(slots[1], port);
    using refused = await tryInALoop(slots[2], forbidden);
    using closed = await tryInALoop(slots[3], port);
    await sleep(300);
    for (let round = 0; round < RESTARTS; round++) {
      await instance.kill();
      await sleep(200);
      instance = await started({ instanceId: instance.id });
      await sleep(200);
    }
    for (const { seen } of [openTo, allowed]) await expect.poll(() => seen.greeted).toBeGreaterThan(20);
    // The kernel bounds how often it refuses, so most of these wait for a second each.
    for (const { seen } of [refused, closed]) await expect.poll(() => seen.refused).toBeGreaterThan(5);
    expect(openTo.seen.refused).toBe(0);
    expect(allowed.seen.refused).toBe(0);
    expect(refused.seen.greeted).toBe(0);
    expect(closed.seen.greeted).toBe(0);
    await instance.purge();
  });

  it('rules for names are with the next program before anybody sets them anew', async () => {
    let instance = await started();
    const slot = await instance.acquire(sandbox(1), rules('https://api.example.com'));
    await instance.kill();
    instance = await started({ instanceId: instance.id });
    await expect.poll(async () => (await greetingOf(slot)).includes('api.example.com')).toBe(true);
    await instance.purge();
  });

  it('a machine of a version without policies stays open, without a gap', async () => {
    let instance = await started();
    const slot = await instance.acquire(sandbox(1), open);
    const other = await instance.acquire(sandbox(2), null);
    using openTo = await tryInALoop(slot, port);
    await instance.kill();
    rmSync(`${runDirOf(instance.id)}/slots/${slot.index}/policy`);
    instance = await started({ instanceId: instance.id });
    const before = openTo.seen.greeted;
    await expect.poll(() => openTo.seen.greeted).toBeGreaterThan(before + 5);
    expect(openTo.seen.refused).toBe(0);
    // Without a policy of its own it has a note, and is none of those.
    expect(await connects(other)).not.toBe('hello');
    await instance.purge();
  });

  it('a policy whose note was cut off is none until it is set anew', async () => {
    let instance = await started();
    const slot = await instance.acquire(sandbox(1), open);
    await instance.kill();
    writeFileSync(`${runDirOf(instance.id)}/slots/${slot.index}/policy`, '{"mode":"op');
    instance = await started({ instanceId: instance.id });
    expect(await connects(slot)).not.toBe('hello');
    await instance.setNetwork(sandbox(1), open);
    expect(await connects(slot)).toBe('hello');
    await instance.purge();
  });

  it('a change in the middle of which the service ended is finished or undone, as noted', async () => {
    let instance = await started();
    const slot = await instance.acquire(sandbox(1), open);
    for (let round = 0; round < 2 * CHANGES; round++) {
      const closes = round % 2 === 0;
      const changing = instance.setNetwork(sandbox(1), closes ? { mode: 'none' } : open).catch(() => {});
      await sleep(Math.random() * 30);
      await instance.kill();
      await changing;
      instance = await started({ instanceId: instance.id });
      await instance.setNetwork(sandbox(1), closes ? { mode: 'none' } : open);
      expect(await connects(slot)).toBe(closes ? 'EHOSTUNREACH' : 'hello');
    }
    await instance.purge();
  });
});

describe('another program', () => {
  const within = { timeout: 8_000, interval: 250 };
  let instance: Instance;
  let free: Slot;
  let ruled: Slot;
  beforeAll(async () => {
    instance = await started();
    free = await instance.acquire(sandbox(1), open);
    ruled = await instance.acquire(sandbox(2), granted);
  });

  it.each([
    ['flushes all tables', 'flush ruleset', false],
    ['empties the set of open networks', 'flush set inet TABLE open_to', true],
    ['empties the map of grants', 'flush map inet TABLE granted', true],
    ['deletes the table', 'delete table inet TABLE', false],
  ])('that %s: policies are in force again within seconds, each its own', async (_, command, isShut) => {
    const table = `sandhaven_${instance.id}`;
    await host.run('nft', ...command.replace('TABLE', table).split(' '));
    if (isShut) expect(await connects(ruled, forbidden)).not.toBe('hello');
    await expect
      .poll(() => host.run('nft', 'list', 'table', 'inet', table).catch(() => ''), within)
      .toMatch(new RegExp(`${free.address}[\\s\\S]*${ruled.address}`));
    for (const slot of [free, ruled]) await expect.poll(() => connects(slot), within).toBe('hello');
    expect(await connects(ruled, forbidden)).not.toBe('hello');
  });

  it('that has flushed the table is no obstacle to the next change', async () => {
    await host.run('nft', 'delete', 'table', 'inet', `sandhaven_${instance.id}`);
    await instance.setNetwork(sandbox(1), { mode: 'none' });
    expect(await connects(free)).not.toBe('hello');
    expect(await connects(ruled)).toBe('hello');
    expect(await connects(ruled, forbidden)).not.toBe('hello');
  });
});

/** Text of whoever answers at a public address. */
async function greetingOf(slot: Slot): Promise<string> {
  return connectTcp(inside(slot), publicAddress, 443);
}
