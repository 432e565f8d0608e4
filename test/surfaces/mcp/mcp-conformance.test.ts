/**
 * What others wrote to talk to MCP servers, against /mcp on the real HTTP surface over services in memory: the
 * protocol's conformance suite, the Inspector's command line, and the client library of the older generation.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { createHttpServer } from '../../../src/surfaces/http/server.ts';
import { createMcpEndpoint } from '../../../src/surfaces/mcp/endpoint.ts';
import { installTools, runTool, toolsFolder } from '../mcp-tools.ts';
import { excludedScenarios } from './mcp-excluded-scenarios.ts';
import { apiKey, createFakes } from './mcp-fakes.ts';

const CONFORMANCE = '@modelcontextprotocol/conformance/dist/index.js';
const INSPECTOR = '@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const authorization = `Bearer ${apiKey}`;

let app: FastifyInstance;
let proxy: Server;
let url: string;
let proxyUrl: string;
let folder: string;

beforeAll(async () => {
  await installTools();
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-conformance-'));
  const { services, log } = createFakes();
  const mcp = createMcpEndpoint({ services, log, version: '1.2.3' });
  const allowedHosts = ['127.0.0.1', 'localhost'];
  app = createHttpServer({ services, log, allowedHosts, version: '1.2.3', ready: () => true, mcp });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/mcp`;
  proxy = createKeyProxy(port);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
}, 300_000);

afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  app.server.closeAllConnections();
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the conformance suite', () => {
  it.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
    '[WIRE-MCP-01] every scenario of %s that applies passes',
    async (revision) => {
      const baseline = join(folder, `${revision}.yml`);
      await writeFile(baseline, await expectedFailures(revision));
      const args = ['server', '--url', proxyUrl, '--suite', 'all', '--spec-version', revision];
      const run = await runTool(CONFORMANCE, [...args, '--expected-failures', baseline]);
      expect(run.status, run.stdout.slice(run.stdout.indexOf('=== SUMMARY'))).toBe(0);
      expect(run.stdout).toMatch(/✓ tools-list/);
    },
    300_000,
  );

  it('excludes no scenario twice, and none that it does not have', async () => {
    const { stdout } = await runTool(CONFORMANCE, ['list', '--server']);
    const excluded = excludedScenarios.flatMap(({ scenarios }) => scenarios);
    expect(new Set(excluded).size).toBe(excluded.length);
    for (const scenario of excluded) expect(stdout).toContain(` ${scenario.split(':')[0]} [`);
  });
});

describe("the Inspector's command line", () => {
  it.each(['legacy', 'modern'])('[WIRE-MCP-02] lists the tools without a schema error (%s)', async (era) => {
    const run = await inspect('tools/list', '--protocol-era', era, '--strict');
    expect(run.status, run.stderr).toBe(0);
    const { result } = JSON.parse(run.stdout) as { result: { tools: { name: string }[] } };
    expect(result.tools).toHaveLength(tools.length);
  });

  it.each(['legacy', 'modern'])('[WIRE-MCP-04] calls a tool (%s)', async (era) => {
    const call = ['--tool-name', 'Sandbox_RunCommand', '--tool-args-json', '{"command":"ls"}'];
    const run = await inspect('tools/call', ...call, '--protocol-era', era);
    expect(run.status, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ result: { structuredContent: { output: 'ran ls\n' } } });
  });

  it('[WIRE-AUTH-03] is refused without a key', async () => {
    const run = await runTool(INSPECTOR, ['--cli', url, '--transport', 'http', '--method', 'tools/list']);
    expect(run.status).not.toBe(0);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  });
});

describe('the client library of the older generation', () => {
  it('[WIRE-MCP-10] takes results and errors, though it checks both against the output schema', async () => {
    const { Client, Transport } = await olderClient();
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new Transport(new URL(url), { requestInit: { headers: { authorization } } }));
    await client.listTools();
    const good = await client.callTool({ name: 'Sandbox_RunCommand', arguments: { command: 'ls' } });
    expect(good.structuredContent).toMatchObject({ output: 'ran ls\n' });
    const bad = await client.callTool({ name: 'Sandbox_GetSandbox', arguments: { sandbox: 'gone' } });
    expect(bad).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } });
    await client.close();
  });
});

function inspect(method: string, ...more: string[]) {
  const server = [url, '--transport', 'http', '--header', `Authorization: ${authorization}`];
  return runTool(INSPECTOR, ['--cli', ...server, '--method', method, '--format', 'json', ...more]);
}

/** The suite's own way to say what is known not to apply; only what it has at this revision. */
async function expectedFailures(revision: string): Promise<string> {
  const { stdout } = await runTool(CONFORMANCE, ['list', '--server', '--spec-version', revision]);
  const lines = excludedScenarios.flatMap(({ reason, scenarios }) =>
    scenarios
      .filter((scenario) => stdout.includes(` ${scenario.split(':')[0]} [`))
      .map((scenario) => `  - ${scenario} # ${reason}`),
  );
  return `server:\n${lines.join('\n')}\n`;
}

/** The suite sends no headers of ours, so this adds the key; Host and Origin pass as they came. */
function createKeyProxy(port: number): Server {
  return createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = httpRequest({
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: { ...headers, authorization },
    });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
}

interface OlderClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<unknown>;
  callTool(call: { name: string; arguments: object }): Promise<{ structuredContent?: unknown }>;
  close(): Promise<void>;
}

/** Loaded from its own folder, which the type checker does not look into. */
async function olderClient() {
  const sdk = join(toolsFolder, 'node_modules/@modelcontextprotocol/sdk/dist/esm/client');
  const { Client } = (await import(join(sdk, 'index.js'))) as {
    Client: new (info: { name: string; version: string }) => OlderClient;
  };
  const { StreamableHTTPClientTransport: Transport } = (await import(join(sdk, 'streamableHttp.js'))) as {
    StreamableHTTPClientTransport: new (url: URL, options: object) => unknown;
  };
  return { Client, Transport };
}
