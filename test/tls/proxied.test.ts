/** A proxy before the API: whose words count for the Host that is answered to, and for the address in the log. */
import { afterEach, expect, it } from 'vitest';
import { createArrivals } from '../../src/model/network/arrival.ts';
import { type Harness, startHttp } from '../surfaces/http/http-harness.ts';

let api: Harness;
afterEach(() => api?.close());

const forwarded = { 'x-forwarded-host': 'sandhaven.example.com', 'x-forwarded-for': '203.0.113.7' };
const clients = () =>
  api.log.filter(({ message }) => message === 'request').map(({ context }) => context['client']);

it('words of a proxy that is trusted count', async () => {
  const trusted = [{ network: '127.0.0.0', prefix: 8, family: 'ipv4' as const }];
  api = await startHttp({
    arrivals: createArrivals(trusted),
    allowedHosts: ['sandhaven.example.com'],
    publicUrl: 'https://sandhaven.example.com',
  });
  expect((await api.fetch('/healthz', { headers: forwarded })).status).toBe(200);
  expect(clients()).toEqual(['203.0.113.7']);
  expect((await api.fetch('/healthz')).status).toBe(421);
  expect(clients().at(-1)).toBe('127.0.0.1');
  const evil = { ...forwarded, 'x-forwarded-host': 'evil.example' };
  expect((await api.fetch('/healthz', { headers: evil })).status).toBe(421);
  expect(
    (await api.fetch('/healthz', { headers: { ...forwarded, origin: 'https://sandhaven.example.com' } }))
      .status,
  ).toBe(200);
  expect((await api.call('Sandbox.WhoAmI', {}, forwarded)).status).toBe(200);
  const { rows } = await api.services.audit.list({ filter: {}, limit: 1 }, 0);
  expect(rows).toMatchObject([{ action: 'Sandbox.WhoAmI', clientAddress: '203.0.113.7' }]);
  const description = await api
    .fetch('/openapi.json', { headers: forwarded })
    .then((answer) => answer.json());
  expect(description).toMatchObject({ servers: [{ url: 'https://sandhaven.example.com' }] });
});

it('words of anybody else do not', async () => {
  api = await startHttp();
  expect((await api.fetch('/healthz', { headers: forwarded })).status).toBe(200);
  expect(clients()).toEqual(['127.0.0.1']);
  await api.close();
  api = await startHttp({ allowedHosts: ['sandhaven.example.com'] });
  expect((await api.fetch('/healthz', { headers: forwarded })).status).toBe(421);
});
