/** Toolsets on each surface: MCP over HTTP and stdio, the list over HTTP, the operator's default. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { selectTools } from '../../../src/catalog/toolsets.ts';
import { bin, call, type Service, startService } from '../../support/service.ts';
import { run } from '../../support/transports.ts';

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: ['--toolsets', 'files,account'] });
}, 120_000);

afterAll(() => service?.stop());

const names = (toolsets: string) => selectTools(toolsets, 'test').map(({ name }) => name.replace('.', '_'));

async function connect(path: string): Promise<Client> {
  const client = new Client({ name: 'toolsets', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${service.apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(service.url + path), { requestInit }));
  return client;
}

async function listed(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe('toolsets', () => {
  it.each([
    ['the operator’s, where a client chooses none', '/mcp', 'files,account'],
    ['a client’s own', '/mcp?toolsets=execution', 'execution'],
    ['all, where a client asks for all', '/mcp?toolsets=all', 'all'],
  ])('MCP over HTTP lists %s', async (_which, path, expected) => {
    const client = await connect(path);
    expect(await listed(client)).toEqual(names(expected));
    await client.close();
  });

  it('MCP over HTTP does not know the other tools, and names their toolset', async () => {
    const client = await connect('/mcp?toolsets=files');
    const refused = client.callTool({ name: 'Sandbox_WhoAmI', arguments: {} });
    await expect(refused).rejects.toThrow(/Unknown tool.*not among the tools.*Its toolset is account/);
    await client.close();
    const open = await connect('/mcp?toolsets=account');
    expect((await open.callTool({ name: 'Sandbox_WhoAmI', arguments: {} })).isError).toBeFalsy();
    await open.close();
  });

  it('a group that does not exist is refused before anything else', async () => {
    const response = await fetch(`${service.url}/mcp?toolsets=fils`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      code: 'invalid_argument',
      parameter: 'toolsets',
      hint: expect.stringContaining('Did you mean files? The toolsets are'),
    });
  });

  it('MCP over stdio takes them as a flag', async () => {
    const client = new Client({ name: 'toolsets', version: '1' });
    const env = {
      PATH: process.env['PATH'] ?? '',
      SANDBOX_API_URL: service.url,
      SANDBOX_API_KEY: service.apiKey,
    };
    const args = ['mcp', '--toolsets', 'execution,account'];
    await client.connect(new StdioClientTransport({ command: bin, args, env }));
    expect(await listed(client)).toEqual(names('execution,account'));
    await client.close();
  });

  it.each([
    ['mcp', 'mcp'],
    ['up', 'up'],
  ])('sandhaven %s names a group that it does not know', async (_name, command) => {
    const { code, stderr } = await run([command, '--toolsets', 'fils'], service);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no toolset');
    expect(stderr).toContain('The toolsets are sandboxes,');
  });

  it('[WIRE-HTTP-02] the list over HTTP follows them too', async () => {
    const list = async (query: string) => {
      const response = await fetch(`${service.url}/v1/tools${query}`, {
        headers: { authorization: `Bearer ${service.apiKey}` },
      });
      const body = (await response.json()) as { tools?: { name: string; toolset: string }[]; code?: string };
      return body.tools?.map(({ name }) => name.replace('.', '_')) ?? body.code;
    };
    expect(await list('')).toEqual(names('files,account'));
    expect(await list('?toolsets=execution')).toEqual(names('execution'));
    expect(await list('?toolsets=all')).toHaveLength(tools.length);
    expect(await list('?toolsets=nothing')).toBe('invalid_argument');
  });

  it('[SBX-TOOLS-02] a toolset is no permission: every tool can be called over HTTP', async () => {
    expect((await call(service, 'ListSandboxes')).status).toBe(200);
  });
});
