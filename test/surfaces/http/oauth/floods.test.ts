/** Floods from one network: bounded, and no harm to others. */
import { afterEach, describe, expect, it } from 'vitest';
import { createArrivals } from '../../../../src/model/network/arrival.ts';
import type { Harness } from '../http-harness.ts';
import { RawApp } from './app.ts';
import { startOAuth } from './oauth-harness.ts';

let http: Harness;

afterEach(() => http.close());

/** A proxy on loopback is trusted, so that each request can come from an address of its own. */
async function start(): Promise<void> {
  const arrivals = createArrivals([{ network: '127.0.0.1', prefix: 32, family: 'ipv4' }]);
  http = await startOAuth({ arrivals });
}

const register = (from: string, body: object | string = {}) =>
  fetch(`${http.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body:
      typeof body === 'string' ? body : JSON.stringify({ redirect_uris: ['https://app.example/'], ...body }),
  });

const statuses = async (count: number, work: () => Promise<Response>) => {
  const answers = await Promise.all(Array.from({ length: count }, work));
  return Map.groupBy(answers, ({ status }) => status);
};

describe('registrations', () => {
  it('of one network are 20 at once, and others register meanwhile', async () => {
    await start();
    const flood = await statuses(60, () => register('192.0.2.7'));
    expect(flood.get(201)?.length).toBeLessThanOrEqual(21);
    expect(flood.get(429)?.length).toBeGreaterThanOrEqual(39);
    expect(flood.get(429)?.[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
    // The whole network has one rate.
    expect((await register('192.0.2.8')).status).toBe(429);
    expect((await register('198.51.100.1')).status).toBe(201);
  });

  it('are bounded in size, number and form', async () => {
    await start();
    const many = Array.from({ length: 11 }, (_, at) => `https://app.example/${at}`);
    expect((await register('192.0.2.1', { redirect_uris: many })).status).toBe(400);
    expect((await register('192.0.2.1', { redirect_uris: [] })).status).toBe(400);
    expect((await register('192.0.2.1', { client_name: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await register('192.0.2.1', `https://app.example/${'x'.repeat(2_000)}`)).status).toBe(400);
    expect((await register('192.0.2.1', '{')).status).toBe(400);
    expect((await register('192.0.2.1', { grant_types: ['client_credentials'] })).status).toBe(400);
  });

  it('give an id and no secret, whatever the client says of itself', async () => {
    await start();
    const answer = await register('192.0.2.1', {
      ...{ client_id: 'mine', client_secret: 'mine', token_endpoint_auth_method: 'client_secret_basic' },
      ...{
        jwks_uri: 'http://127.0.0.1/',
        sector_identifier_uri: 'http://127.0.0.1/',
        logo_uri: 'javascript:x',
      },
    });
    expect(await answer.json()).toEqual({
      client_id: expect.stringMatching(/^client_[0-9a-z]{24}$/),
      client_id_issued_at: expect.any(Number),
      redirect_uris: ['https://app.example/'],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
  });
});

describe('authorization requests', () => {
  it('of one network are 60 at once, and others ask meanwhile', async () => {
    await start();
    const app = new RawApp(http.url);
    app.clientId = 'client_unknown';
    const ask = (from: string) =>
      fetch(app.url(), { redirect: 'manual', headers: { 'x-forwarded-for': from } });
    const flood = await statuses(100, () => ask('192.0.2.7'));
    expect(flood.get(429)?.length).toBeGreaterThan(0);
    expect((await ask('198.51.100.1')).status).not.toBe(429);
  });

  it('have an end: a URL that is too long is refused', async () => {
    await start();
    const app = new RawApp(http.url);
    expect((await fetch(app.url({ state: 'x'.repeat(9_000) }), { redirect: 'manual' })).status).toBe(400);
  });
});
