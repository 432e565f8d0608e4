/** Bandwidth through the egress program: what it sends to a machine is a program's of the host, and limited all the same. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { createTestHost, inside, publicAddress, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import { fetchWithoutEnd, serveWithoutEnd, web } from './transfers.ts';

const MB = 1e6;
let host: TestHost;
let server: Disposable;

beforeAll(async () => {
  host = await createTestHost();
  server = await serveWithoutEnd(host.outside);
});

afterAll(async () => {
  server?.[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

it('holds for a machine with rules', async () => {
  const instance = host.start({
    egressPath: join(NATIVE, 'sandhaven-egress'),
    traffic: { bandwidthMbps: 40, connectionsPerSecond: 200, gbPerDay: null },
  });
  await instance.init();
  const slot = await instance.acquire('sb_0000000000000001', rules(`http://${publicAddress}:${web}`));
  using response = await fetchWithoutEnd(inside(slot), publicAddress);
  await sleep(1_500); // What the bucket held at first.
  const rate = await response.rate(3_000);
  expect(rate).toBeLessThan(5.75 * MB);
  expect(rate).toBeGreaterThan(2 * MB);
  await instance.purge();
});
