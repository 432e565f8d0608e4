/** How often a key may call: the same on every way in, and our own clients wait as long as they are told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../../sdk/src/index.ts';
import { createMcpEndpoint } from '../../../src/surfaces/mcp/endpoint.ts';
import { cliFor } from '../cli/cli-harness.ts';
import { fakePeople } from '../fakes/fake-people.ts';
import { API_KEY, createFakeServices, MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

const BURST = 3;
const silent = { info: () => {}, warn: () => {}, error: () => {} };

let http: Harness;

/** One call comes back each second, and a full burst is there at the start. */
beforeEach(async () => {
  const services = {
    ...createFakeServices().services,
    ...fakePeople({ rate: { perSecond: 1, burst: BURST } }),
  };
  const mcp = createMcpEndpoint({ services, log: silent, version: '1.2.3' });
  http = await startHttp({ services, mcp });
});

afterEach(() => http.close());

const whoAmI = () => http.call('Sandbox.WhoAmI', {});

function mcp(method: string, params: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return http.fetch('/mcp', { method: 'POST', headers, body });
}

async function useUp(): Promise<void> {
  for (let call = 0; call < BURST; call++) expect((await whoAmI()).status).toBe(200);
}

describe('a key that calls too often', () => {
  it('[WIRE-ERR-14] gets the reason, and when to come back', async () => {
    await useUp();
    const refused = await whoAmI();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({
      code: 'resource_exhausted',
      retryable: true,
      retry_after_seconds: 1,
      detail: expect.stringContaining('1 calls a second, 3 at once'),
    });
  });

  it('does not hinder another key', async () => {
    await useUp();
    expect(
      (await http.fetch('/v1/tools', { headers: { 'x-api-key': MEMBER_KEY, authorization: '' } })).status,
    ).toBe(200);
    expect((await fetch(`${http.url}/healthz`)).status).toBe(200);
  });

  it.each([
    ['tools', () => whoAmI()],
    ['bytes', () => http.fetch('/v1/sandboxes/a/files?path=x')],
    ['uploads', () => http.fetch('/v1/sandboxes/a/files?path=x', { method: 'PUT', body: 'x' })],
    ['actions', () => http.fetch('/v1/admin/ListUsers', { method: 'POST' })],
    ['descriptions', () => http.fetch('/openapi.json')],
    ['event streams', () => http.call('Sandbox.WhoAmI', {}, { accept: 'text/event-stream' })],
    ['MCP without a call', () => mcp('tools/list', {})],
  ])('is refused %s alike', async (_what, request) => {
    await useUp();
    const refused = await request();
    expect({ status: refused.status, wait: refused.headers.get('retry-after') }).toEqual({
      ...{ status: 429, wait: '1' },
    });
    expect(await refused.json()).toMatchObject({ code: 'resource_exhausted', retry_after_seconds: 1 });
  });

  it('[WIRE-MCP-10] gets the same error over MCP, like any failed call', async () => {
    const call = async () => {
      const text = await (await mcp('tools/call', { name: 'Sandbox_WhoAmI', arguments: {} })).text();
      return JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? text).result as Record<string, unknown>;
    };
    for (let number = 0; number < BURST; number++) expect((await call())['isError']).toBeFalsy();
    expect(await call()).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'resource_exhausted', retry_after_seconds: 1 } },
    });
  });

  it('is not let off for MCP messages that are refused before they are read', async () => {
    const tooLarge = { _meta: { x: Array(2_000).fill(0) }, name: 'Sandbox_WhoAmI', arguments: {} };
    const statuses: number[] = [];
    for (let number = 0; number <= BURST; number++) {
      statuses.push((await mcp('tools/call', tooLarge)).status);
    }
    expect(statuses).toEqual([413, 413, 413, 429]);
  });

  it('is not let off for naming teams that it is in none of', async () => {
    const statuses: number[] = [];
    const headers = { 'sandhaven-team': 'guessed' };
    for (let number = 0; number <= BURST; number++) {
      const path = number % 2 === 0 ? '/v1/tools' : '/mcp';
      statuses.push((await http.fetch(path, { method: path === '/mcp' ? 'POST' : 'GET', headers })).status);
    }
    expect(statuses).toEqual([404, 404, 404, 429]);
  });

  it('is taken again after that time', async () => {
    await useUp();
    await expect.poll(async () => (await whoAmI()).status, { timeout: 5_000 }).toBe(200);
  });
});

describe('our clients', () => {
  it('the SDK sends again, even what must not be done twice, since nothing was done', async () => {
    await useUp();
    const client = new Sandhaven({ url: http.url, apiKey: API_KEY });
    expect(await client.runCommand({ command: 'echo once' })).toMatchObject({ stdout: 'once\n' });
    expect(http.log.filter(({ context }) => context['code'] === 'resource_exhausted').length).toBeGreaterThan(
      0,
    );
  });

  it('the SDK sends nothing again when maxRetries is 0', async () => {
    await useUp();
    const client = new Sandhaven({ url: http.url, apiKey: API_KEY, maxRetries: 0 });
    await expect(client.whoAmI()).rejects.toMatchObject({ code: 'resource_exhausted', retryAfterSeconds: 1 });
  });

  it('the command line waits and sends again', async () => {
    await useUp();
    const cli = cliFor(http.url);
    expect(await cli(['call', 'Sandbox.RunCommand', '--command', 'echo once'])).toMatchObject({ code: 0 });
    await useUpAgain();
    expect(await cli(['users'])).toMatchObject({ code: 0 });
  });

  async function useUpAgain(): Promise<void> {
    while ((await whoAmI()).status === 200);
  }
});
