/** Tunnels of one member leave room for those of others. */
import { duplexPair } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Services } from '../../../src/control/services.ts';
import { openTunnel } from '../../../src/surfaces/cli/tunnel-client.ts';
import { API_KEY, createFakeServices, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;

beforeAll(async () => {
  const tunnels: Pick<Services['tunnels'], 'visit'> = {
    visit: (_caller, _reference, _port, work) => work(duplexPair()[0]),
  };
  const services = { ...createFakeServices().services, tunnels } as Services;
  http = await startHttp({ services });
});

afterAll(() => http.close());

async function open(apiKey: string) {
  const target = { sandbox: 'a', port: 80 };
  const outcome = await openTunnel({ url: http.url, apiKey }, target, AbortSignal.timeout(10_000));
  // The service's end breaks it.
  outcome.connection?.on('error', () => {});
  return outcome;
}

it('of one member are 256 at once; one that ends makes room', async () => {
  const his = await Promise.all(Array.from({ length: 256 }, () => open(API_KEY)));
  expect(his.filter(({ problem }) => problem)).toEqual([]);
  expect((await open(API_KEY)).problem).toMatchObject({ status: 429, code: 'resource_exhausted' });
  expect((await open(MEMBER_KEY)).problem).toBeUndefined();
  his[0]?.connection?.resetAndDestroy();
  await expect.poll(async () => (await open(API_KEY)).problem).toBeUndefined();
});
