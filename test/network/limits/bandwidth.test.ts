/** Rates of sandboxes, watched at those who are not the attacker. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { createTestHost, type Instance, inside, publicAddress, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import { connectTcp, type Server, serve } from '../probe.ts';
import {
  download,
  fetchWithoutEnd,
  flood,
  serveBytes,
  serveWithoutEnd,
  storm,
  upload,
  web,
} from './transfers.ts';

const MB = 1e6;
const day = '2026-01-05';
const port = 18_111;
const id = (number: number) => `sb_${String(number).padStart(16, '0')}`;
const [attacker, accomplice, other, ruled] = [id(1), id(2), id(3), id(4)];
const owners = { [attacker]: 'user_a', [accomplice]: 'user_a', [other]: 'user_b' };
const notesFile = `/tmp/sandhaven-traffic-${process.pid}`;

let host: TestHost;
let server: Disposable;
let pages: Disposable;
let greeter: Server;

beforeAll(async () => {
  host = await createTestHost();
  server = await serveBytes(host.outside);
  pages = await serveWithoutEnd(host.outside);
  greeter = await serve(host.outside, port);
});

afterAll(async () => {
  server?.[Symbol.dispose]();
  pages?.[Symbol.dispose]();
  greeter?.[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
  rmSync(notesFile, { force: true });
});

async function started(options: object): Promise<Instance> {
  const instance = host.start({ owners, ...options });
  await instance.init();
  return instance;
}

describe('the bandwidth of a sandbox', () => {
  it('is held in both directions, for each sandbox apart, and for one with rules', async () => {
    const traffic = { bandwidthMbps: 40, connectionsPerSecond: 200, gbPerDay: null };
    const instance = await started({ traffic, egressPath: join(NATIVE, 'sandhaven-egress') });
    const [first, second] = [inside(await instance.acquire(attacker)), inside(await instance.acquire(other))];
    const third = inside(await instance.acquire(ruled, rules(`http://${publicAddress}:${web}`)));
    using down = await download(first, publicAddress);
    using up = await upload(first, publicAddress);
    using beside = await download(second, publicAddress);
    using response = await fetchWithoutEnd(third, publicAddress);
    await sleep(1_500); // What the buckets held at first.
    const [gated = 0, ...rates] = await Promise.all(
      [response, down, up, beside].map((one) => one.rate(2_000)),
    );
    for (const rate of rates) {
      expect(rate).toBeLessThan(5.75 * MB);
      expect(rate).toBeGreaterThan(2.5 * MB);
    }
    // What the egress program sends to a machine is a program's of the host, and limited all the same.
    expect(gated).toBeLessThan(5.75 * MB);
    expect(gated).toBeGreaterThan(2 * MB);
    await instance.purge();
  });
});

describe('a way out that is full', () => {
  it('is divided by owner: a flood of one leaves another its half', async () => {
    const instance = await started({ watch: { uplinkMbps: 80, notesFile, day } });
    const [first, second, third] = [
      inside(await instance.acquire(attacker)),
      inside(await instance.acquire(accomplice)),
      inside(await instance.acquire(other)),
    ];
    using _one = await flood(first, publicAddress);
    using _two = await flood(second, publicAddress);
    await sleep(2_500); // What the flood's bucket held at first.
    using up = await upload(third, publicAddress);
    await sleep(1_500);
    await instance.settle();
    const [before, begun] = [(await instance.traffic(attacker)).ownerBytes, performance.now()];
    // Half of 95 % of 10 MB/s is 4.75; a sender that loses packets uses most of it.
    expect(await up.rate(3_000)).toBeGreaterThan(2.8 * MB);
    await instance.settle();
    const after = (await instance.traffic(attacker)).ownerBytes;
    expect((after - before) / (performance.now() - begun)).toBeLessThan(6_500);
    await instance.purge();
  });
});

describe('a storm of new connections', () => {
  it('is cut and counted for its sandbox alone', async () => {
    const traffic = { bandwidthMbps: null, connectionsPerSecond: 50, gbPerDay: null };
    const instance = await started({ traffic, watch: { notesFile, day } });
    const [first, second] = [inside(await instance.acquire(attacker)), inside(await instance.acquire(other))];
    using _storm = await storm(first, publicAddress);
    await sleep(1_000);
    for (let tries = 0; tries < 5; tries++)
      expect(await connectTcp(second, publicAddress, port)).toBe('hello');
    await instance.settle();
    expect((await instance.traffic(attacker)).today.refusedConnections).toBeGreaterThan(100);
    expect((await instance.traffic(other)).today.refusedConnections).toBe(0);
    await instance.purge();
  });
});
