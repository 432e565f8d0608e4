/** `sandhaven up`: the service in the foreground, until SIGTERM or SIGINT. */

import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createLog } from './log.ts';
import { SandhavenError } from './model/errors.ts';
import type { Address, UpOptions } from './options.ts';
import { prove } from './prove.ts';
import { type RunningService, startService } from './service.ts';
import { createHttpServer } from './surfaces/http/server.ts';
import { createMcpEndpoint } from './surfaces/mcp/endpoint.ts';
import { version } from './version.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const WILDCARDS = ['0.0.0.0', '::'];

/** Serves until the signal is aborted; resolves with the exit status once everything is closed. */
export async function up(
  options: UpOptions,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  const log = createLog();
  const service = await startService({
    dataDir: options.dataDir,
    warmPool: options.warmPool,
    imageKeptMinutes: options.imageKeptMinutes,
    apiKey,
    clock: Date,
    log,
  });
  const { services } = service;
  const mcp = createMcpEndpoint({ services, log, version });
  const http = createHttpServer({
    services,
    log,
    allowedHosts: allowedHosts(options.listen),
    version,
    ready: () => true,
    mcp,
  });
  try {
    await http.listen({ ...options.listen }).catch((error: unknown) => {
      throw unusable(options.listen, error);
    });
    const url = urlOf(http.server.address() as AddressInfo);
    if (options.prove) process.stdout.write(`${await prove(url, service.apiKey)}\n${howTo(url, service)}\n`);
    process.stdout.write(`ready ${url}\n`);
    await aborted(signal);
    log.info('stopping');
  } finally {
    await Promise.all([http.close(), mcp.close()]);
    await service.close();
  }
  return 0;
}

function unusable({ host, port }: Address, error: unknown): SandhavenError {
  const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return new SandhavenError(
    'failed_precondition',
    `${host}:${port} cannot be listened on${taken ? ': another program does' : ''}.`,
    { parameter: '--listen', hint: 'Stop that program, or give another address with --listen.' },
    error,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function allowedHosts({ host }: Address): string[] {
  if (!WILDCARDS.includes(host)) return [...LOOPBACK, host];
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return [...LOOPBACK, ...own.map(({ address }) => address)];
}

function urlOf({ address, port, family }: AddressInfo): string {
  const host = WILDCARDS.includes(address) ? '127.0.0.1' : address;
  return family === 'IPv6' && host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}

function howTo(url: string, { apiKeyFile }: RunningService): string {
  const config = {
    mcpServers: {
      sandhaven: { type: 'http', url: `${url}/mcp`, headers: { Authorization: 'Bearer <API_KEY>' } },
    },
  };
  return [
    `API      ${url} (OpenAPI at ${url}/openapi.json)`,
    `API key  ${apiKeyFile ? `in ${apiKeyFile}` : 'the one in SANDBOX_API_KEY'}`,
    'For an MCP client:',
    JSON.stringify(config, null, 2),
  ].join('\n');
}
