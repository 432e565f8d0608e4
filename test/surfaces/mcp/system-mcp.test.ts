/** A real service and real sandboxes through MCP, over HTTP and on stdio, with the official client. */
import { type AddressInfo, createServer } from 'node:net';
import {
  type CallToolResult,
  type Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bin, type Service, startService } from '../../support/service.ts';
import { createClient } from './mcp-host.ts';

let service: Service;
const clients: Client[] = [];

beforeAll(async () => {
  // One port for all its processes, so that a client's address stays true over a restart.
  service = await startService({ flags: ['--listen', `127.0.0.1:${await freePort()}`] });
});

afterAll(() => service.stop());

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

const doors = { http: connectHttp, stdio: connectStdio };

describe.each(['http', 'stdio'] as const)('a sandbox through MCP (%s)', (door) => {
  it('[WIRE-MCP-01, SBX-CREATE-02, SBX-STATE-04, SBX-STATE-11] lives its life', async () => {
    const call = caller(await doors[door]('2026-07-28'));
    const sandbox = `life-${door}`;
    expect(await call('CreateSandbox', { name: sandbox })).toMatchObject({ name: sandbox, state: 'started' });
    await call('WriteFile', { sandbox, path: 'notes/a.txt', content: 'one\ntwo\n' });
    expect(await call('RunCommand', { sandbox, command: 'wc -l < notes/a.txt' })).toMatchObject({
      output: '2\n',
      exit_code: 0,
    });
    await call('StopSandbox', { sandbox });
    await call('ArchiveSandbox', { sandbox });
    expect(await call('StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    expect(await call('ReadFile', { sandbox, path: 'notes/a.txt' })).toMatchObject({ content: 'one\ntwo\n' });
    expect(await call('DeleteSandbox', { sandbox })).toMatchObject({ name: sandbox, deleted: true });
  });

  it('[WIRE-MCP-06, SBX-CODE-01] draws', async () => {
    const client = await doors[door]('2025-11-25');
    const call = caller(client);
    const sandbox = `charts-${door}`;
    await call('CreateSandbox', { name: sandbox });
    const code = 'import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.title("Growth")\nplt.show()';
    const result = await client.callTool({ name: 'Sandbox_RunCode', arguments: { sandbox, code } });
    expect(result.structuredContent).toMatchObject({
      exit_code: 0,
      charts: [{ type: 'line', title: 'Growth' }],
    });
    const image = result.content.find(({ type }) => type === 'image') as { data: string } | undefined;
    expect(
      Buffer.from(image?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    await call('DeleteSandbox', { sandbox });
  });

  it('[WIRE-MCP-09, WIRE-HTTP-08] a cancelled command is gone from the sandbox', async () => {
    for (const revision of ['2026-07-28', '2025-11-25']) {
      const client = await doors[door](revision);
      const call = caller(client);
      const sandbox = `cancel-${door}`;
      await call('CreateSandbox', { name: sandbox });
      const abort = new AbortController();
      const slow = client.callTool(
        { name: 'Sandbox_RunCommand', arguments: { sandbox, command: 'touch begun; sleep 300' } },
        { signal: abort.signal },
      );
      const ended = expect(slow).rejects.toThrow(/enough/);
      const until = 'until [ -e begun ]; do sleep 0.1; done';
      await call('RunCommand', { sandbox, command: until, timeout_seconds: 20 });
      abort.abort('enough');
      await ended;
      const gone = 'while pgrep -x sleep; do read -t 0.1 < <(:) || true; done';
      expect(await call('RunCommand', { sandbox, command: gone, timeout_seconds: 20 })).toMatchObject({
        timed_out: false,
      });
      await call('DeleteSandbox', { sandbox });
    }
  }, 120_000);

  it('goes on with the same client after a restart of the service', async () => {
    for (const revision of ['2026-07-28', '2025-11-25']) {
      const call = caller(await doors[door](revision));
      const sandbox = `restart-${door}`;
      await call('CreateSandbox', { name: sandbox });
      await service.restart();
      expect(await call('RunCommand', { sandbox, command: 'echo still here' })).toMatchObject({
        output: 'still here\n',
      });
      await call('DeleteSandbox', { sandbox });
    }
  }, 120_000);
});

/** Fails when the call does; gives the result otherwise. */
function caller(client: Client) {
  return async (tool: string, parameters: Record<string, unknown>) => {
    const result: CallToolResult = await client.callTool(
      { name: `Sandbox_${tool}`, arguments: parameters },
      { timeout: 120_000 },
    );
    if (result.isError) throw new Error(`${tool}: ${JSON.stringify(result.structuredContent)}`);
    return result.structuredContent;
  };
}

async function connectHttp(revision: string): Promise<Client> {
  const client = clientOf(revision);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit: { headers } }),
  );
  return client;
}

async function connectStdio(revision: string): Promise<Client> {
  const client = clientOf(revision);
  const env = {
    PATH: process.env['PATH'] ?? '',
    SANDBOX_API_URL: service.url,
    SANDBOX_API_KEY: service.apiKey,
  };
  await client.connect(new StdioClientTransport({ command: bin, args: ['mcp'], env }));
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function clientOf(revision: string): Client {
  const client = createClient(revision);
  clients.push(client);
  return client;
}
