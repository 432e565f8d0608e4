/** A real service and real sandboxes through MCP, over HTTP and on stdio, with the official client. */
import { type AddressInfo, createServer } from 'node:net';
import {
  type CallToolResult,
  type Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin, must, type Service, startService } from '../../support/service.ts';
import { createClient } from './mcp-host.ts';

let service: Service;
/** By door and revision: one for all tests, since each on stdio is a program that starts. */
const clients = new Map<string, Client>();

beforeAll(async () => {
  // One port for all its processes, so that a client's address stays true over a restart.
  service = await startService({ flags: ['--listen', `127.0.0.1:${await freePort()}`] });
  await must(service, 'CreateSandbox', { name: 'shared' });
});

afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await service?.stop();
});

const doors = ['http', 'stdio'] as const;
const revisions = ['2026-07-28', '2025-11-25'];

describe.each(doors)('a sandbox through MCP (%s)', (door) => {
  it('[WIRE-MCP-01, SBX-CREATE-02, SBX-STATE-04, SBX-STATE-11] lives its life', async () => {
    const call = caller(await open(door, '2026-07-28'));
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
    const client = await open(door, '2025-11-25');
    const code = 'import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.title("Growth")\nplt.show()';
    const result = await client.callTool({ name: 'Sandbox_RunCode', arguments: { sandbox: 'shared', code } });
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
  });

  it.each(revisions)(
    '[WIRE-MCP-09, WIRE-HTTP-08] a cancelled command is gone from the sandbox (%s)',
    async (revision) => {
      const client = await open(door, revision);
      const call = caller(client);
      const sandbox = 'shared';
      const abort = new AbortController();
      const slow = client.callTool(
        { name: 'Sandbox_RunCommand', arguments: { sandbox, command: 'sleep 300' } },
        { signal: abort.signal },
      );
      const ended = expect(slow).rejects.toThrow(/enough/);
      const begun = 'until pgrep -x sleep; do :; done';
      expect(await call('RunCommand', { sandbox, command: begun, timeout_seconds: 20 })).toMatchObject({
        timed_out: false,
      });
      abort.abort('enough');
      await ended;
      const gone = 'while pgrep -x sleep; do read -t 0.1 < <(:) || true; done';
      expect(await call('RunCommand', { sandbox, command: gone, timeout_seconds: 20 })).toMatchObject({
        timed_out: false,
      });
    },
    120_000,
  );
});

describe('a restart of the service', () => {
  it('leaves each client, of both doors and revisions, to go on', async () => {
    const ways = doors.flatMap((door) => revisions.map((revision) => ({ door, revision })));
    const calls = await Promise.all(
      ways.map(async ({ door, revision }) => caller(await open(door, revision))),
    );
    const echo = { sandbox: 'shared', command: 'echo still here' };
    for (const call of calls) await call('RunCommand', echo);
    await service.restart();
    for (const [index, call] of calls.entries()) {
      expect(await call('RunCommand', echo), JSON.stringify(ways[index])).toMatchObject({
        output: 'still here\n',
      });
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

async function open(door: (typeof doors)[number], revision: string): Promise<Client> {
  const way = `${door} ${revision}`;
  const client = clients.get(way) ?? createClient(revision);
  if (clients.has(way)) return client;
  clients.set(way, client);
  await client.connect(door === 'http' ? overHttp() : onStdio());
  return client;
}

function overHttp(): StreamableHTTPClientTransport {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  return new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit: { headers } });
}

function onStdio(): StdioClientTransport {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SANDBOX_API_URL: service.url,
    SANDBOX_API_KEY: service.apiKey,
  };
  return new StdioClientTransport({ command: bin, args: ['mcp'], env });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
