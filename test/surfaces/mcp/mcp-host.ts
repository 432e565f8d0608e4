/** An MCP endpoint over services in memory on a port of its own, and official clients of any revision. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpEndpoint, type McpEndpoint } from '../../../src/surfaces/mcp/endpoint.ts';
import { caller, createFakes, type Fakes } from './mcp-fakes.ts';

export const MODERN = '2026-07-28';
export const revisions = [MODERN, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** A client that speaks exactly this revision. */
export function createClient(revision: string): Client {
  const options =
    revision === MODERN
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  return new Client({ name: 'test', version: '1' }, options);
}

export class McpHost {
  readonly fakes: Fakes = createFakes();
  readonly #clients: Client[] = [];
  #endpoint: McpEndpoint | null = null;
  #server: Server | null = null;
  #port = 0;

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/mcp`);
  }

  get endpoint(): McpEndpoint {
    if (!this.#endpoint) throw new Error('not listening');
    return this.#endpoint;
  }

  /** On the port it had before, if any. */
  async listen(): Promise<void> {
    const { services, log } = this.fakes;
    const endpoint = createMcpEndpoint({ services, log, version: '1.2.3' });
    const client = { caller, address: null };
    const server = createServer((request, response) => void endpoint.handle(request, response, client));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#endpoint = endpoint;
    this.#server = server;
  }

  async unlisten(): Promise<void> {
    await this.#endpoint?.close();
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** @param onSent Gets each message on its way. */
  async connect(
    revision: string,
    onSent: (headers: Record<string, string>, body: string) => void = () => {},
  ): Promise<Client> {
    const client = createClient(revision);
    const noting: typeof fetch = (url, init) => {
      onSent(Object.fromEntries(new Headers(init?.headers)), String(init?.body));
      return fetch(url, init);
    };
    await client.connect(new StreamableHTTPClientTransport(this.url, { fetch: noting }));
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    this.fakes.release();
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.unlisten();
  }
}
