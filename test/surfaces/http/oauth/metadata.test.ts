/** Documents for discovery, and the addresses that they may name. */
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createArrivals } from '../../../../src/model/network/arrival.ts';
import type { Harness } from '../http-harness.ts';
import { startOAuth } from './oauth-harness.ts';

let http: Harness;

afterEach(() => http.close());

/** Sends any Host. */
function get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: http.port, path, headers }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, body: await json(answer) });
    });
    sent.once('error', reject).end();
  });
}

const RESOURCE = '/.well-known/oauth-protected-resource';
const issuerFor = async (headers: Record<string, string>) => {
  const { status, body } = await get('/.well-known/oauth-authorization-server', headers);
  return status === 200 ? (body as { issuer: string }).issuer : status;
};

describe('discovery', () => {
  it('begins with the refusal of MCP', async () => {
    http = await startOAuth();
    const answer = await fetch(`${http.url}/mcp`, { method: 'POST' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer scope="sandboxes:read sandboxes:write documents:read", ' +
        `resource_metadata="${http.url}/.well-known/oauth-protected-resource/mcp"`,
    );
    const elsewhere = await fetch(`${http.url}/v1/tools`);
    expect(elsewhere.headers.get('www-authenticate')).toBe('Bearer realm="sandhaven"');
  });

  it.each([RESOURCE, `${RESOURCE}/mcp`])('finds the resource at %s', async (path) => {
    http = await startOAuth();
    expect(await (await fetch(http.url + path)).json()).toEqual({
      resource: `${http.url}/mcp`,
      authorization_servers: [http.url],
      scopes_supported: ['sandboxes:read', 'sandboxes:write', 'documents:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Sandhaven',
    });
  });

  it('finds the authorization server', async () => {
    http = await startOAuth();
    const { url } = http;
    const answer = await fetch(`${url}/.well-known/oauth-authorization-server`);
    expect(await answer.json()).toEqual({
      issuer: url,
      authorization_endpoint: `http://sandhaven.localhost:${http.port}/oauth/authorize-from/127.0.0.1`,
      token_endpoint: `${url}/oauth/token`,
      registration_endpoint: `${url}/oauth/register`,
      revocation_endpoint: `${url}/oauth/revoke`,
      scopes_supported: ['sandboxes:read', 'sandboxes:write', 'documents:read'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  });

  it.each([
    ['localhost', '/oauth/authorize-from/localhost'],
    ['[::1]', '/oauth/authorize-from/%5B%3A%3A1%5D'],
    ['sandhaven.localhost', '/oauth/authorize'],
  ])('sends browsers from %s to the name that no other server of the machine has', async (name, path) => {
    http = await startOAuth();
    const host = `${name}:${http.port}`;
    const { body } = await get('/.well-known/oauth-authorization-server', { host });
    expect(body).toMatchObject({
      issuer: `http://${host}`,
      authorization_endpoint: `http://sandhaven.localhost:${http.port}${path}`,
      token_endpoint: `http://${host}/oauth/token`,
    });
  });

  it('takes no other name from that path', async () => {
    http = await startOAuth();
    for (const name of [
      'evil.example',
      '127.0.0.1@evil.example',
      '127.0.0.1%3a1%23',
      'sandhaven.localhost.',
    ]) {
      const headers = { host: `sandhaven.localhost:${http.port}` };
      expect((await get(`/oauth/authorize-from/${name}?client_id=x`, headers)).status).toBe(412);
    }
  });

  it('leads to no other route of the library', async () => {
    http = await startOAuth();
    for (const path of [
      '/oauth/me',
      '/jwks',
      '/oauth/end',
      '/reg',
      '/me',
      '/session/end',
      '/token/introspection',
    ])
      expect((await fetch(http.url + path)).status).toBe(401);
  });
});

describe('the issuer', () => {
  it('is the listener’s own address, by the name that the client used', async () => {
    http = await startOAuth();
    expect(await issuerFor({})).toBe(http.url);
    expect(await issuerFor({ host: `localhost:${http.port}` })).toBe(`http://localhost:${http.port}`);
  });

  it.each([
    ['another port of this machine', { host: 'localhost:1' }, 412],
    ['no port', { host: 'localhost' }, 412],
    ['a dot at the end', { host: 'localhost.:PORT' }, 412],
    ['a name that is not this service’s', { host: 'evil.example' }, 421],
    ['a name from a proxy that nobody trusts', { 'x-forwarded-host': 'evil.example' }, 412],
    ['a scheme from a proxy that nobody trusts', { 'x-forwarded-proto': 'https' }, 'own'],
  ])('is not taken from a request with %s', async (_name, headers, expected) => {
    http = await startOAuth();
    const given = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('PORT', String(http.port)),
    ]);
    expect(await issuerFor(Object.fromEntries(given))).toBe(expected === 'own' ? http.url : expected);
  });

  it('is the public URL for requests that reached it through a trusted proxy', async () => {
    http = await startOAuth({
      ...{ publicUrl: 'https://sandhaven.example', allowedHosts: ['127.0.0.1', 'sandhaven.example'] },
      arrivals: createArrivals([{ network: '127.0.0.1', prefix: 32, family: 'ipv4' }]),
    });
    const proxied = { 'x-forwarded-host': 'sandhaven.example', 'x-forwarded-proto': 'https' };
    expect(await issuerFor(proxied)).toBe('https://sandhaven.example');
    expect(await issuerFor({ ...proxied, 'x-forwarded-proto': 'http' })).toBe(412);
    expect(await issuerFor({ ...proxied, 'x-forwarded-host': 'sandhaven.example:8443' })).toBe(412);
  });

  it('that is not known has no OAuth, and says so', async () => {
    http = await startOAuth();
    const { body } = await get(RESOURCE, { host: 'localhost:1' });
    expect(body).toMatchObject({
      code: 'failed_precondition',
      hint: expect.stringContaining('--public-url'),
    });
  });
});
