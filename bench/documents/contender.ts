/** Connects to tool servers like their clients: by the official MCP client on either transport, or plain HTTP. */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createEndpoint, send } from '../base/http.ts';

export interface Answer {
  /** Structured result, for programs. */
  result: Record<string, unknown>;
  /** Size of the answer as JSON, on every transport. Counted lazily, so that no call's time includes it. */
  bytes(): number;
}

export interface Contender extends AsyncDisposable {
  /** Rejects when the answer is an error. */
  ask(tool: string, parameters: Record<string, unknown>): Promise<Answer>;
}

export interface McpContender extends Contender {
  /** Returns the bytes of each definition that the client gets, by the tool's name. */
  definitions(): Promise<Map<string, number>>;
}

export interface Service {
  url: string;
  apiKey: string;
}

export interface Program {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Starts the server's process, and returns its pid. */
export async function overStdio(program: Program): Promise<McpContender & { pid: number }> {
  const transport = new StdioClientTransport({ ...program, stderr: 'ignore' });
  const contender = await connect(transport);
  return { ...contender, pid: transport.pid ?? 0 };
}

export function overStreamableHttp({ url, apiKey }: Service): Promise<McpContender> {
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  return connect(
    new StreamableHTTPClientTransport(new URL('/mcp?toolsets=documentdb', url), { requestInit }),
  );
}

export function overHttp({ url, apiKey }: Service): Contender {
  const { hostname, port } = new URL(url);
  const endpoint = createEndpoint(
    { host: hostname, port: Number(port) },
    { authorization: `Bearer ${apiKey}` },
  );
  return {
    async ask(tool, parameters) {
      const path = `/v1/tools/${tool.replace('_', '.')}`;
      const { body } = await send(endpoint, 'POST', path, { body: Buffer.from(JSON.stringify(parameters)) });
      return { result: JSON.parse(body.toString()), bytes: () => body.length };
    },
    async [Symbol.asyncDispose]() {
      endpoint.agent.destroy();
    },
  };
}

async function connect(transport: Transport): Promise<McpContender> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return {
    async ask(tool, parameters) {
      const answer = await client.callTool({ name: tool, arguments: parameters });
      if (answer.isError) throw new Error(`${tool}: ${JSON.stringify(answer).slice(0, 500)}`);
      return {
        result: (answer.structuredContent ?? {}) as Answer['result'],
        bytes: () => Buffer.byteLength(JSON.stringify(answer)),
      };
    },
    async definitions() {
      const { tools } = await client.listTools();
      return new Map(tools.map((tool) => [tool.name, Buffer.byteLength(JSON.stringify(tool))]));
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
