/** `@sandhaven/mcp` with the official client, in front of the real HTTP surface over services in memory. */
import type { AddressInfo } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { createMcpEndpoint } from '../../src/surfaces/mcp/endpoint.ts';
import { apiKey, caller, createFakes, type Fakes, largeContent } from '../surfaces/mcp/mcp-fakes.ts';
import { MODERN } from '../surfaces/mcp/mcp-host.ts';
import { connectBridge } from './started-bridge.ts';

let fakes: Fakes;
let app: FastifyInstance;
let port: number;
let clients: Client[];

beforeEach(async () => {
  fakes = createFakes();
  clients = [];
  port = 0;
  await listen();
});

afterEach(async () => {
  fakes.release();
  await Promise.all(clients.map((client) => client.close()));
  await unlisten();
});

describe.each([MODERN, '2025-11-25', '2024-11-05'])('the bridge, revision %s', (revision) => {
  it('connects and lists every tool', async () => {
    const client = await connect(revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: 'sandhaven', version: '1.2.3' });
    expect((await client.listTools()).tools).toHaveLength(tools.length);
  });

  it('lists the tools of the chosen toolsets', async () => {
    const client = await connect(revision, ['--toolsets', 'execution']);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'Sandbox_RunCode',
      'Sandbox_RunCommand',
    ]);
  });

  it('passes calls, large results and problems', async () => {
    const client = await connect(revision);
    const ran = await client.callTool({ name: 'Sandbox_RunCommand', arguments: { command: 'echo é' } });
    expect(ran.structuredContent).toMatchObject({ output: 'ran echo é\n' });
    const large = await client.callTool({ name: 'Sandbox_ReadFile', arguments: { path: 'big.txt' } });
    expect(large.structuredContent).toMatchObject({ content: largeContent });
    const gone = await client.callTool({ name: 'Sandbox_GetSandbox', arguments: { sandbox: 'gone' } });
    expect(gone).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } });
  });

  it('passes progress', async () => {
    const client = await connect(revision);
    const messages: (string | undefined)[] = [];
    // The client drops progress that comes in one piece with the result.
    fakes.holdsCreate = true;
    const call = client.callTool(
      { name: 'Sandbox_CreateSandbox', arguments: {} },
      { onprogress: ({ message }) => messages.push(message) },
    );
    await expect.poll(() => messages).toEqual(['Pulling the image', 'Starting', 'Started']);
    fakes.release();
    await call;
  });

  it('passes a cancellation on to the command', async () => {
    const client = await connect(revision);
    const abort = new AbortController();
    const call = client.callTool(
      { name: 'Sandbox_RunCommand', arguments: { command: 'sleep' } },
      { signal: abort.signal },
    );
    await expect.poll(() => fakes.begun).toEqual(['sleep']);
    abort.abort('enough');
    await expect(call).rejects.toThrow(/enough/);
    await expect.poll(() => fakes.aborted).toEqual(['sleep']);
    expect((await client.callTool({ name: 'Sandbox_WhoAmI' })).structuredContent).toBeDefined();
  });

  it('ends the command of a client that goes away', async () => {
    const client = await connect(revision);
    const call = client.callTool({ name: 'Sandbox_RunCommand', arguments: { command: 'sleep' } });
    const ended = expect(call).rejects.toThrow();
    await expect.poll(() => fakes.begun).toEqual(['sleep']);
    await client.close();
    await ended;
    await expect.poll(() => fakes.aborted).toEqual(['sleep']);
  });

  it('reports that the service is away, and goes on when it is back', async () => {
    let stderr = '';
    const client = await connect(revision, [], (text) => {
      stderr += text;
    });
    await unlisten();
    const away = await client.callTool({ name: 'Sandbox_WhoAmI' });
    const error = { code: 'unavailable', retryable: true, hint: expect.stringContaining('SANDBOX_API_URL') };
    expect(away).toMatchObject({ isError: true, structuredContent: { error } });
    expect(stderr).toContain('cannot be reached');
    await expect(client.listTools({}, { cacheMode: 'refresh' })).rejects.toThrow(/cannot be reached/);
    await listen();
    const back = await client.callTool({ name: 'Sandbox_WhoAmI' });
    expect(back.structuredContent).toMatchObject({ user_id: caller.id });
  });
});

async function connect(
  revision: string,
  args: string[] = [],
  stderr: (text: string) => void = () => {},
): Promise<Client> {
  const env = { SANDBOX_API_URL: `http://127.0.0.1:${port}`, SANDBOX_API_KEY: apiKey };
  const client = await connectBridge(revision, env, { args, stderr });
  clients.push(client);
  return client;
}

/** On the port it had before, if any. */
async function listen(): Promise<void> {
  const { services, log } = fakes;
  const mcp = createMcpEndpoint({ services, log, version: '1.2.3' });
  app = createHttpServer({
    services,
    log,
    mcp,
    allowedHosts: ['127.0.0.1'],
    version: '1',
    ready: () => true,
  });
  await app.listen({ port, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
}

async function unlisten(): Promise<void> {
  app.server.closeAllConnections();
  await app.close();
}
