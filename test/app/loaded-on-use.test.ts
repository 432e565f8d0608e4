/** A service holds no code of what it has not been asked for: the start loads no library of it, and the first use does. */
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mcpEndpointOnUse } from '../../src/app/parts/loaded-on-use.ts';
import { caller, createFakes } from '../surfaces/mcp/mcp-fakes.ts';

const LATE = [
  ...['@modelcontextprotocol/server', '@simplewebauthn/server', 'ajv', 'bson', 'mongodb', 'openid-client'],
  ...[
    'oidc-provider',
    'prom-client',
    '@opentelemetry/sdk-trace-node',
    '@kubernetes/client-node',
    'ssh2',
    'pg',
    'tldts',
  ],
];

/** Prints the packages that a start imports, each once. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({
  load(url, context, next) {
    const found = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url);
    if (found) packages.add(found[1]);
    return next(url, context);
  },
});
await import(${JSON.stringify(new URL('../../src/app/up.ts', import.meta.url).href)});
console.log(JSON.stringify([...packages]));
`;

it('the start of a service loads no library that most services use late or never', () => {
  const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM];
  const { stdout, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' });
  expect(stderr).toBe('');
  const packages = JSON.parse(stdout) as string[];
  expect(packages).toEqual(expect.arrayContaining(['fastify', 'zod']));
  expect(packages.filter((name) => LATE.includes(name))).toEqual([]);
});

const { services, log } = createFakes();
const endpoint = mcpEndpointOnUse({ services, log, version: '1.2.3' });
const server = createServer((request, response) => {
  void endpoint.handle(request, response, { caller, address: null });
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

it('MCP answers its first calls, however many come at once, and none after its close', async () => {
  const ping = () =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    }).then((answer) => answer.text());
  const answers = await Promise.all([ping(), ping(), ping()]);
  expect(new Set(answers)).toEqual(
    new Set(['event: message\ndata: {"result":{},"jsonrpc":"2.0","id":1}\n\n']),
  );
  await endpoint.close();
  await expect(ping()).rejects.toThrow();
});
