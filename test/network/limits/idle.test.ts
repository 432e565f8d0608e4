/** Work of the firewall and of the watch of traffic while nothing happens: no nft runs, and nothing is missed later. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { createTestHost, type Instance, inside, publicAddress, type TestHost } from '../harness.ts';
import { fakeEgress } from '../policies/fake-egress.ts';
import { rules } from '../policies/rules.ts';
import { sendUdp } from '../probe.ts';

const [first, second] = ['sb_0000000000000001', 'sb_0000000000000002'];
const port = 18_120;
const folder = mkdtempSync(join(tmpdir(), 'sandhaven-idle-'));
const runs = join(folder, 'runs');
const path = process.env['PATH'];
let host: TestHost;
let instance: Instance;
let slot: Slot;

beforeAll(async () => {
  host = await createTestHost();
  const nft = join(folder, 'nft');
  writeFileSync(nft, `#!/bin/sh\necho "$@" >>${runs}\nPATH=${path} exec nft "$@"\n`);
  chmodSync(nft, 0o755);
  process.env['PATH'] = `${folder}:${path}`;
  const watch = { notesFile: join(folder, 'notes'), day: '2026-01-05' };
  const owners = { [first]: 'user_a', [second]: 'user_b' };
  instance = host.start({ owners, watch, egressPath: fakeEgress(host) });
  process.env['PATH'] = path;
  await instance.init();
  slot = await instance.acquire(first);
  await instance.acquire(second, rules(`udp://${publicAddress}:${port}`));
  // Two turns of the firewall's watch, after all that these changes have led to. No test changes anything again, but the last.
  await sleep(7_000);
});

afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Commands of nft while the work goes on. */
async function runsDuring(work: () => Promise<unknown>): Promise<string> {
  writeFileSync(runs, '');
  await work();
  return readFileSync(runs, 'utf8');
}

/** Bytes that the kernel has counted of the machine. */
async function counted(): Promise<number> {
  const table = `sandhaven_${instance.id}_traffic`;
  const { nftables } = JSON.parse(await host.run('nft', '-j', 'list', 'set', 'inet', table, 'sent'));
  type Element = { elem: { val: string; counter: { bytes: number } } };
  const elements: Element[] = nftables[1].set.elem ?? [];
  return elements.find(({ elem }) => elem.val === slot.address)?.elem.counter.bytes ?? 0;
}

it('runs no nft while nothing happens', async () => {
  expect(await runsDuring(() => sleep(7_000))).toBe('');
});

it('counts a single packet after a time without any', async () => {
  const before = (await instance.traffic(first)).today.sentBytes;
  const during = await runsDuring(async () => {
    await sendUdp(inside(slot), publicAddress, port, '', 'x'.repeat(72));
    await instance.settle();
  });
  expect(during).toBe('');
  const { sentBytes } = (await instance.traffic(first)).today;
  // IP and UDP have 28 bytes.
  expect((sentBytes - before) % 100).toBe(0);
  expect(sentBytes).toBeGreaterThan(before);
  expect(sentBytes).toBe(await counted());
});

it('finds after a time without changes that another program has emptied all tables', async () => {
  await host.run('nft', 'flush', 'ruleset');
  const tables = () => host.run('nft', 'list', 'tables');
  await expect.poll(tables, { timeout: 8_000 }).toContain(`sandhaven_${instance.id}\n`);
  await expect.poll(tables, { timeout: 8_000 }).toContain(`sandhaven_${instance.id}_traffic`);
});
