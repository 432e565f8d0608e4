/** The same call on each transport, so that one test can walk all of them. */
import { spawn } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type CallOptions, Sandhaven, SandhavenError } from '../../sdk/src/index.ts';
import { bin, call, type Service, wholeName } from './service.ts';

export type Parameters = Record<string, unknown>;

/** `problem` is the error object, the same on every transport. */
export type Outcome =
  | { result: Record<string, unknown>; problem?: never }
  | { problem: Record<string, unknown>; result?: never };

export interface Transport {
  name: string;
  invoke(tool: string, parameters: Parameters): Promise<Outcome>;
  close(): Promise<void>;
}

export type TransportFactory = (service: Service) => Promise<Transport>;

export const transports: Record<string, TransportFactory> = {
  HTTP: async (service) => ({
    name: 'HTTP',
    async invoke(tool, parameters) {
      const { status, body } = await call(service, tool, parameters);
      return status === 200 ? { result: body } : { problem: body };
    },
    close: async () => {},
  }),

  'MCP over HTTP': (service) =>
    mcp(
      'MCP over HTTP',
      new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${service.apiKey}` } },
      }),
    ),

  'MCP over stdio': (service) =>
    mcp(
      'MCP over stdio',
      new StdioClientTransport({ command: bin, args: ['mcp'], env: environment(service) }),
    ),

  CLI: async (service) => ({
    name: 'CLI',
    async invoke(tool, parameters) {
      const flags = Object.entries(parameters).flatMap(([name, value]) => [`--${name}=${flagValue(value)}`]);
      const { code, stdout, stderr } = await run(['call', wholeName(tool), '--json', ...flags], service);
      return code === 0 ? { result: JSON.parse(stdout) } : { problem: JSON.parse(stderr) };
    },
    close: async () => {},
  }),

  SDK: async (service) => {
    const client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
    return {
      name: 'SDK',
      async invoke(tool, parameters) {
        try {
          return { result: await method(client, tool)(parameters) };
        } catch (error) {
          if (!(error instanceof SandhavenError)) throw error;
          return { problem: { ...error, request_id: error.requestId } };
        }
      },
      close: async () => {},
    };
  },
};

type Method = (parameters: Parameters, options?: CallOptions) => Promise<Record<string, unknown>>;

/** `createSandbox` for CreateSandbox: a test that walks the catalogue cannot use the types. */
function method(client: Sandhaven, tool: string): Method {
  const [toolkit, bare = ''] = wholeName(tool).split('.');
  const name = bare.charAt(0).toLowerCase() + bare.slice(1);
  const tools = toolkit === 'DocumentDb' ? client.documentDb : client;
  const found = (tools as unknown as Record<string, Method | undefined>)[name];
  if (!found) throw new Error(`the SDK has no ${name}`);
  return found.bind(tools);
}

export async function run(args: string[], service: Pick<Service, 'url' | 'apiKey'>, input = '') {
  const child = spawn(bin, args, { env: environment(service), stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

async function mcp(
  name: string,
  transport: StreamableHTTPClientTransport | StdioClientTransport,
): Promise<Transport> {
  const client = new Client({ name: 'sandhaven-test', version: '1.0.0' });
  await client.connect(transport);
  // With the schemas listed, the client checks every result against its output schema.
  await client.listTools();
  return {
    name,
    async invoke(tool, parameters) {
      const answer = await client.callTool({
        name: wholeName(tool).replace('.', '_'),
        arguments: parameters,
      });
      const structured = answer.structuredContent as Record<string, unknown>;
      if (answer.isError) return { problem: structured['error'] as Record<string, unknown> };
      return { result: structured };
    },
    close: () => client.close(),
  };
}

function environment(service: Pick<Service, 'url' | 'apiKey'>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
}

function flagValue(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
