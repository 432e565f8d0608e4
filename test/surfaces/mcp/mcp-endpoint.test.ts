/** What the MCP endpoint does about bodies, cancellation, clients that go away, signs of life, and its log. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { instructions } from '../../../src/surfaces/mcp/server.ts';
import { caller, type Fakes } from './mcp-fakes.ts';
import { McpHost, MODERN } from './mcp-host.ts';

const HEARTBEAT_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;
const BODY_BYTES = 24 * 1024 * 1024;

let host: McpHost;
let fakes: Fakes;

beforeEach(async () => {
  host = new McpHost();
  fakes = host.fakes;
  await host.listen();
});

afterEach(() => host.close());

describe('the MCP endpoint', () => {
  it('names only existing tools in its instructions to a model', () => {
    const names = tools.map(({ name }) => name.replace('.', '_'));
    const mentioned = instructions.match(/\b(?:Sandbox|DocumentDb)_\w+/g) ?? [];
    expect(mentioned.length).toBeGreaterThan(3);
    expect(mentioned.filter((name) => !names.includes(name as (typeof names)[number]))).toEqual([]);
  });

  it('logs each call without what it holds', async () => {
    const client = await host.connect(MODERN);
    await client.callTool({ name: 'Sandbox_RunCommand', arguments: { command: 'echo hunter2' } });
    const context = { tool: 'Sandbox.RunCommand', user: caller.id, request_id: expect.any(String) };
    expect(fakes.logged).toContainEqual({ message: 'mcp call', context: expect.objectContaining(context) });
    expect(JSON.stringify(fakes.logged)).not.toContain('hunter2');
  });

  it('a client cancels only its own calls, though another numbers them alike', async () => {
    const [first, second] = [await host.connect('2025-11-25'), await host.connect('2025-11-25')];
    const abort = new AbortController();
    const sleep = { name: 'Sandbox_RunCommand', arguments: { command: 'sleep' } };
    const cancelled = first.callTool(sleep, { signal: abort.signal });
    const other = second.callTool(sleep);
    await expect.poll(() => fakes.begun).toHaveLength(2);
    abort.abort('enough');
    await expect(cancelled).rejects.toThrow(/enough/);
    await expect.poll(() => fakes.aborted).toHaveLength(1);
    await expect(Promise.race([other, delay(200)])).resolves.toBe('still running');
    await second.close();
    await expect(other).rejects.toThrow();
    await expect.poll(() => fakes.aborted).toHaveLength(2);
    const ended = expect.objectContaining({ message: 'mcp call' });
    await expect.poll(() => fakes.logged).toEqual([ended, ended]);
    expect(fakes.errors).toEqual([]);
  });

  it('[WIRE-HTTP-08] a client that goes away ends its command', async () => {
    for (const revision of [MODERN, '2025-11-25']) {
      const client = await host.connect(revision);
      const call = client.callTool({ name: 'Sandbox_RunCommand', arguments: { command: 'sleep' } });
      const ended = expect(call).rejects.toThrow();
      await expect.poll(() => fakes.begun).toHaveLength(1);
      await client.close();
      await ended;
      await expect.poll(() => fakes.aborted).toHaveLength(1);
      fakes.begun.length = fakes.aborted.length = 0;
    }
    expect(fakes.errors).toEqual([]);
  });

  it('ends what is in progress when it is closed, and keeps nothing open after a call', async () => {
    for (const revision of [MODERN, '2025-11-25']) {
      const client = await host.connect(revision);
      await client.callTool({ name: 'Sandbox_WhoAmI' });
      const call = client.callTool({ name: 'Sandbox_RunCommand', arguments: { command: 'sleep' } });
      const ended = expect(call).rejects.toThrow();
      await expect.poll(() => fakes.begun).toHaveLength(1);
      await host.endpoint.close();
      await expect.poll(() => fakes.aborted).toHaveLength(1);
      await client.close();
      await ended;
      await host.unlisten();
      await host.listen();
      fakes.begun.length = fakes.aborted.length = 0;
    }
  });

  it('keeps a silent call alive with signs of life', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const client = await host.connect(MODERN);
      const messages: (string | undefined)[] = [];
      const call = client.callTool(
        { name: 'Sandbox_StopSandbox', arguments: { sandbox: 'demo' } },
        { onprogress: ({ message }) => messages.push(message) },
      );
      await expect.poll(() => fakes.begun).toEqual(['stop demo']);
      vi.advanceTimersByTime(2 * HEARTBEAT_MS);
      await expect.poll(() => messages).toHaveLength(2);
      expect(messages[0]).toMatch(/^Working for \d+ s\.$/);
      fakes.release();
      await call;
    } finally {
      vi.useRealTimers();
    }
  });

  it('writes comments while a call is silent', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const params = { name: 'Sandbox_StopSandbox', arguments: { sandbox: 'demo' } };
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const call = fetch(host.url, { method: 'POST', headers, body });
      await expect.poll(() => fakes.begun).toEqual(['stop demo']);
      vi.advanceTimersByTime(KEEP_ALIVE_MS);
      fakes.release();
      expect(await (await call).text()).toMatch(/^: keepalive\n\nevent: message\ndata: \{[^\n]+\}\n\n$/);
    } finally {
      vi.useRealTimers();
    }
  });

  it('[WIRE-HTTP-07] refuses a body that is too large, and what is no JSON', async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const large = JSON.stringify({ text: 'x'.repeat(BODY_BYTES) });
    expect((await fetch(host.url, { method: 'POST', headers, body: large })).status).toBe(413);
    const broken = await fetch(host.url, { method: 'POST', headers, body: '{"jsonrpc":' });
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { code: -32_700 } });
    const text = { ...headers, 'content-type': 'text/plain' };
    expect((await fetch(host.url, { method: 'POST', headers: text, body: '{}' })).status).toBe(415);
  });

  it('takes a body near the limit', async () => {
    const client = await host.connect(MODERN);
    const command = 'x'.repeat(20 * 1024 * 1024);
    const result = await client.callTool({ name: 'Sandbox_RunCommand', arguments: { command } });
    expect(result.structuredContent).toMatchObject({
      error: { code: 'invalid_argument', parameter: 'command' },
    });
  });
});

function delay(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve('still running'), ms));
}
