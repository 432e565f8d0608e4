/** Asks the service as an agent would: with the key alone, over HTTP and over MCP. */
import { Sandhaven, type WhoAmIResult } from '@sandhaven/sdk';

export interface Probe {
  who: WhoAmIResult;
  httpMs: number;
  server: string;
  tools: number;
  mcpMs: number;
}

const PROTOCOL = '2025-06-18';

export async function probe(apiKey: string): Promise<Probe> {
  // Without the cookie of this browser, so that the key alone is tested.
  const withoutCookie: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'omit' });
  const begun = performance.now();
  const who = await new Sandhaven({ url: '', apiKey, fetch: withoutCookie, maxRetries: 0 }).whoAmI();
  const httpMs = performance.now() - begun;
  const mcpBegun = performance.now();
  const { serverInfo } = await mcp<{ serverInfo?: { name?: string; version?: string } }>(
    apiKey,
    'initialize',
    {
      protocolVersion: PROTOCOL,
      capabilities: {},
      clientInfo: { name: 'sandhaven-page', version: '1' },
    },
  );
  const { tools } = await mcp<{ tools?: unknown[] }>(apiKey, 'tools/list', {});
  return {
    ...{ who, httpMs, tools: tools?.length ?? 0, mcpMs: performance.now() - mcpBegun },
    server: `${serverInfo?.name ?? 'MCP'} ${serverInfo?.version ?? ''}`.trim(),
  };
}

async function mcp<Result>(apiKey: string, method: string, params: object): Promise<Result> {
  const response = await fetch('/mcp', {
    method: 'POST',
    credentials: 'omit',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': PROTOCOL,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`MCP answered ${method} with status ${response.status}.`);
  // The answer is JSON, or one event of a stream with it.
  const data = text.startsWith('{') ? text : (/^data: ?(.*)$/m.exec(text)?.[1] ?? '');
  const { result, error } = JSON.parse(data) as { result?: Result; error?: { message?: string } };
  if (result === undefined) throw new Error(error?.message ?? `MCP gave no result for ${method}.`);
  return result;
}
