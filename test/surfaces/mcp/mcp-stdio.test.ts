/** `sandhaven mcp` with the official client, in front of the real HTTP surface over services in memory. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { createHttpServer } from '../../../src/surfaces/http/server.ts';
import { bin } from '../../support/service.ts';
import { apiKey, caller, createFakes, type Fakes, largeContent } from './mcp-fakes.ts';
import { createClient, MODERN } from './mcp-host.ts';

const fakes: Fakes = createFakes();
const clients: Client[] = [];
let app: FastifyInstance;
let port = 0;

beforeAll(() => listen());

beforeEach(() => {
  fakes.begun.length = fakes.aborted.length = fakes.settled.length = 0;
  fakes.holdsCreate = false;
});

afterEach(() => fakes.release());

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await unlisten();
});

describe.each([MODERN, '2025-11-25', '2024-11-05'])('MCP on stdio, revision %s', (revision) => {
  let client: Client;

  beforeAll(async () => {
    client = await connect(revision);
  });

  it('[WIRE-MCP-01, WIRE-MCP-02] connects and lists every tool', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools).toHaveLength(tools.length);
  });

  it('[WIRE-MCP-03, WIRE-MCP-04, WIRE-CLI-03] passes calls to the service, by either name', async () => {
    for (const name of ['Sandbox_RunCommand', 'Sandbox.RunCommand']) {
      const result = await client.callTool({ name, arguments: { command: 'echo é' } });
      expect(result.structuredContent).toMatchObject({ output: 'ran echo é\n' });
      expect(result.content).toEqual([
        { type: 'text', text: 'ran echo é\n[exit code 0, 1 ms, all of it on stdout]' },
      ]);
    }
  });

  it('[WIRE-MCP-05, WIRE-MCP-06] passes large results and charts', async () => {
    const large = await client.callTool({ name: 'Sandbox_ReadFile', arguments: { path: 'big.txt' } });
    expect(large.structuredContent).toMatchObject({ content: largeContent });
    const plotted = await client.callTool({ name: 'Sandbox_RunCode', arguments: { code: 'plot()' } });
    expect(plotted.content).toContainEqual({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' });
  });

  it('[WIRE-MCP-10] passes the problem of a failed call', async () => {
    const result = await client.callTool({ name: 'Sandbox_GetSandbox', arguments: { sandbox: 'gone' } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } });
    const missing = await client.callTool({ name: 'Sandbox_RunCommand', arguments: {} });
    expect(missing.structuredContent).toMatchObject({
      error: { code: 'invalid_argument', parameter: 'command' },
    });
  });

  it('[WIRE-MCP-08] passes progress', async () => {
    const messages: (string | undefined)[] = [];
    // The client drops progress that comes in one piece with the result.
    fakes.holdsCreate = true;
    const call = client.callTool(
      { name: 'Sandbox_CreateSandbox', arguments: {} },
      { onprogress: ({ message }) => messages.push(message) },
    );
    await expect.poll(() => messages, { timeout: 5_000 }).toHaveLength(3);
    fakes.release();
    await call;
    expect(messages).toEqual(['Pulling the image', 'Starting', 'Started']);
  });

  it('[WIRE-MCP-09] passes a cancellation on to the command', async () => {
    const abort = new AbortController();
    const call = client.callTool(
      { name: 'Sandbox_RunCommand', arguments: { command: 'sleep' } },
      { signal: abort.signal },
    );
    await expect.poll(() => fakes.begun).toEqual(['sleep']);
    abort.abort('enough');
    await expect(call).rejects.toThrow(/enough/);
    await expect.poll(() => fakes.aborted).toEqual(['sleep']);
  });

  it('[WIRE-HTTP-09] a client that goes away leaves a lifecycle operation to its end', async () => {
    const call = client.callTool({ name: 'Sandbox_StopSandbox', arguments: { sandbox: 'demo' } });
    const ended = expect(call).rejects.toThrow();
    await expect.poll(() => fakes.begun).toEqual(['stop demo']);
    // The last test of this client.
    await client.close();
    await ended;
    fakes.release();
    await expect.poll(() => fakes.settled).toEqual(['stop demo']);
  });
});

describe('MCP on stdio', () => {
  it('[WIRE-ERR-16] reports that the service is away, and goes on when it is back', async () => {
    const client = await connect(MODERN);
    await unlisten();
    const away = await client.callTool({ name: 'Sandbox_WhoAmI' });
    const error = { code: 'unavailable', retryable: true, hint: expect.stringContaining('sandhaven up') };
    expect(away.structuredContent).toMatchObject({ error });
    await listen();
    const back = await client.callTool({ name: 'Sandbox_WhoAmI' });
    expect(back.structuredContent).toMatchObject({ user_id: caller.id });
  });

  it.each(['SIGTERM', 'SIGINT', 'end of input'])('ends at %s', async (how) => {
    const child = spawn(bin, ['mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = new Promise((resolve) => child.once('exit', (...status) => resolve(status)));
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const answer = await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: {} });
    if (how === 'end of input') child.stdin.end();
    else child.kill(how as NodeJS.Signals);
    expect(await exited).toEqual([0, null]);
  });

  it('[WIRE-AUTH-03] reports that a key is needed, and takes the one of a service that comes later', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'sandhaven-mcp-'));
    try {
      const client = await connect(MODERN, { SANDHAVEN_DATA_DIR: dataDir });
      const without = await client.callTool({ name: 'Sandbox_WhoAmI' });
      expect(without).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'unauthenticated' } },
      });
      await writeFile(join(dataDir, 'api-key'), `${apiKey}\n`);
      const result = await client.callTool({ name: 'Sandbox_WhoAmI' });
      expect(result.structuredContent).toMatchObject({ user_id: caller.id });
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  it('[WIRE-AUTH-04] reports that the key is not valid', async () => {
    const client = await connect(MODERN, { SANDBOX_API_KEY: 'shv_wrong' });
    const result = await client.callTool({ name: 'Sandbox_WhoAmI' });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'unauthenticated' } },
    });
  });
});

async function connect(
  revision: string,
  key: Record<string, string> = { SANDBOX_API_KEY: apiKey },
): Promise<Client> {
  const client = createClient(revision);
  const env = { PATH: process.env['PATH'] ?? '', SANDBOX_API_URL: `http://127.0.0.1:${port}`, ...key };
  await client.connect(new StdioClientTransport({ command: bin, args: ['mcp'], env }));
  clients.push(client);
  return client;
}

/** On the port it had before, if any. */
async function listen(): Promise<void> {
  const { services, log } = fakes;
  app = createHttpServer({ services, log, allowedHosts: ['127.0.0.1'], version: '1', ready: () => true });
  await app.listen({ port, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
}

async function unlisten(): Promise<void> {
  app.server.closeAllConnections();
  await app.close();
}
