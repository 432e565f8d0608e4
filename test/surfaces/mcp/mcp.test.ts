/** MCP over HTTP with the official client, on the current revision and older ones, over services in memory. */
import { ProtocolError } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { caller, type Fakes, largeContent } from './mcp-fakes.ts';
import { McpHost, revisions } from './mcp-host.ts';

const TEXT_CHARS = 16 * 1024;

let host: McpHost;
let fakes: Fakes;

beforeEach(async () => {
  host = new McpHost();
  fakes = host.fakes;
  await host.listen();
});

afterEach(() => host.close());

describe.each(revisions)('MCP over HTTP, revision %s', (revision) => {
  it('[WIRE-MCP-01] connects and explains the use of the toolkit', async () => {
    const client = await host.connect(revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: 'sandhaven', version: '1.2.3' });
    expect(client.getInstructions()).toContain('Sandbox_CreateSandbox');
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
  });

  it('[WIRE-MCP-02, WIRE-MCP-07] lists every tool by a name without a dot, with schema and hints', async () => {
    const client = await host.connect(revision);
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name.replace('.', '_')));
    for (const tool of listed.tools) {
      expect(tool.name).toMatch(/^[A-Za-z0-9_]{1,64}$/);
      expect(tool.inputSchema['type']).toBe('object');
      expect(tool.outputSchema?.['type']).toBe('object');
      expect(Object.keys(tool.annotations ?? {}).toSorted()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ]);
    }
    await expect(client.listTools({ cursor: 'x' })).rejects.toThrow(/no cursor is valid/);
  });

  it('[WIRE-MCP-03, WIRE-MCP-04] calls by either name; the result is the structured content', async () => {
    const client = await host.connect(revision);
    await client.listTools();
    for (const name of ['Sandbox_RunCommand', 'Sandbox.RunCommand']) {
      const result = await client.callTool({ name, arguments: { command: 'ls' } });
      expect(result.isError).toBeFalsy();
      expect(result.structuredContent).toMatchObject({ output: 'ran ls\n', exit_code: 0 });
      expect(result.content).toEqual([
        { type: 'text', text: 'ran ls\n[exit code 0, 1 ms, all of it on stdout]' },
      ]);
    }
    const bare = await client.callTool({ name: 'Sandbox_WhoAmI' });
    expect(bare.structuredContent).toMatchObject({ user_id: caller.id, email: caller.email });
  });

  it('[WIRE-MCP-10] a failed call is an error result with the problem, for a client that knows the schemas', async () => {
    const client = await host.connect(revision);
    await client.listTools();
    const result = await client.callTool({ name: 'Sandbox_GetSandbox', arguments: { sandbox: 'gone' } });
    expect(result.isError).toBe(true);
    const problem = {
      code: 'not_found',
      status: 404,
      detail: "There is no sandbox 'gone'.",
      hint: 'Call Sandbox_ListSandboxes.',
      retryable: false,
    };
    expect(result.structuredContent).toEqual({ error: expect.objectContaining(problem) });
    expect(JSON.parse(textOf(result))).toEqual(
      (result.structuredContent as Record<string, unknown>)['error'],
    );
  });

  it('[WIRE-ARGS-01] refuses an unknown parameter by name before anything happens', async () => {
    const client = await host.connect(revision);
    const result = await client.callTool({
      name: 'Sandbox_RunCommand',
      arguments: { command: 'ls', shell: 'zsh' },
    });
    expect(result.structuredContent).toMatchObject({
      error: { code: 'invalid_argument', parameter: 'shell' },
    });
    expect(fakes.begun).toEqual([]);
  });

  it('[WIRE-ERR-17] keeps the cause of a defect to the log', async () => {
    const client = await host.connect(revision);
    const result = await client.callTool({ name: 'Sandbox_RunCode', arguments: { code: 'defect' } });
    expect(result.structuredContent).toMatchObject({ error: { code: 'internal', status: 500 } });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    const { error } = result.structuredContent as { error: { request_id: string } };
    expect(JSON.stringify(fakes.logged)).toContain(error.request_id);
    expect(fakes.errors).toEqual(['mcp call failed']);
  });

  it('an unknown tool is a protocol error that names near ones', async () => {
    const client = await host.connect(revision);
    const call = client.callTool({ name: 'Sandbox_CreateSandbx', arguments: {} });
    await expect(call).rejects.toThrow(ProtocolError);
    await expect(call).rejects.toThrow(/Unknown tool.*Did you mean Sandbox_CreateSandbox/);
  });

  it('[WIRE-MCP-05] sends a large payload once', async () => {
    const client = await host.connect(revision);
    const result = await client.callTool({ name: 'Sandbox_ReadFile', arguments: { path: 'big.txt' } });
    expect(result.structuredContent).toMatchObject({ content: largeContent });
    expect(textOf(result).length).toBeLessThan(TEXT_CHARS + 200);
    expect(textOf(result)).toContain('structuredContent has all');
  });

  it('[WIRE-MCP-06] sends charts as images too', async () => {
    const client = await host.connect(revision);
    const result = await client.callTool({ name: 'Sandbox_RunCode', arguments: { code: 'plot()' } });
    expect(result.content).toContainEqual({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' });
  });

  it('[WIRE-MCP-08] sends progress that only grows to a client that asked for it', async () => {
    const client = await host.connect(revision);
    const seen: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    fakes.holdsCreate = true;
    const call = client.callTool(
      { name: 'Sandbox_CreateSandbox', arguments: { name: 'demo' } },
      { onprogress: (progress) => seen.push(progress) },
    );
    await expect.poll(() => seen, { timeout: 5_000 }).toHaveLength(3);
    fakes.release();
    await call;
    expect(seen).toEqual([
      { progress: 10, total: 20, message: 'Pulling the image' },
      { progress: 11, message: 'Starting' },
      { progress: 12, message: 'Started' },
    ]);
  });

  it('[WIRE-MCP-09, WIRE-HTTP-08] a cancelled call ends its command', async () => {
    const client = await host.connect(revision);
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

  it('[WIRE-HTTP-09] a cancelled lifecycle operation comes to its end', async () => {
    const client = await host.connect(revision);
    const abort = new AbortController();
    const call = client.callTool(
      { name: 'Sandbox_StopSandbox', arguments: { sandbox: 'demo' } },
      { signal: abort.signal },
    );
    await expect.poll(() => fakes.begun).toEqual(['stop demo']);
    abort.abort('enough');
    await expect(call).rejects.toThrow(/enough/);
    fakes.release();
    await expect.poll(() => fakes.settled).toEqual(['stop demo']);
  });

  it('a client goes on after a restart of the service', async () => {
    const client = await host.connect(revision);
    await client.callTool({ name: 'Sandbox_WhoAmI' });
    await host.unlisten();
    await host.listen();
    // The client's pool learns only then that its old connections are gone.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const result = await client.callTool({ name: 'Sandbox_WhoAmI' });
    expect(result.structuredContent).toMatchObject({ user_id: caller.id });
  });
});

function textOf(result: { content: { type: string }[] }): string {
  const block = result.content.find(({ type }) => type === 'text') as { text: string } | undefined;
  return block?.text ?? '';
}
