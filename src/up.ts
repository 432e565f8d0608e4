/** `sandhaven up`: the service in the foreground, until SIGTERM or SIGINT. */

import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { extname } from 'node:path';
import { selectTools } from './catalog/toolsets.ts';
import type { Log } from './control/ports.ts';
import { PreviewGateway } from './gateways/preview/gateway.ts';
import { openSshGateway, type SshGateway } from './gateways/ssh/gateway.ts';
import { createLog } from './log.ts';
import { SandhavenError } from './model/errors.ts';
import type { Address, DocumentDbOptions, GatewayAddress, UpOptions } from './options.ts';
import { prove } from './prove.ts';
import { type RunningService, startService } from './service.ts';
import { createHttpServer } from './surfaces/http/server.ts';
import { createMcpEndpoint } from './surfaces/mcp/endpoint.ts';
import { version } from './version.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const WILDCARDS = ['0.0.0.0', '::'];
/** A file beside this one, whether it is run from source or from what was built of it. */
const SSH_THREAD = new URL(`./ssh-worker${extname(import.meta.filename)}`, import.meta.url);

/** What comes by environment only. */
export interface Secrets {
  apiKey: string | undefined;
  documentDb: DocumentDbOptions;
}

/** Serves until the signal is aborted; resolves with the exit status once everything is closed. */
export async function up(
  options: UpOptions,
  { apiKey, documentDb }: Secrets,
  signal: AbortSignal,
): Promise<number> {
  const log = createLog();
  const tools = selectTools(options.toolsets, '--toolsets');
  const service = await startService({
    dataDir: options.dataDir,
    warmPool: options.warmPool,
    imageKeptMinutes: options.imageKeptMinutes,
    apiKey,
    gpuKind: options.gpuKind,
    gitAllow: options.gitAllow,
    provider: options.provider,
    quota: options.quota,
    rate: options.rate,
    documentDb,
    clock: Date,
    log,
  });
  const { services } = service;
  const mcp = createMcpEndpoint({ services, log, version, tools });
  const http = createHttpServer({
    services,
    log,
    allowedHosts: allowedHosts(options),
    version,
    tools,
    ready: () => true,
    mcp,
  });
  let ssh: SshGateway | undefined;
  const previews = new PreviewGateway({ access: service.previewAccess, domain: options.previewDomain, log });
  try {
    // First, so that no call is answered before its preview or its SSH access can be.
    const previewPort = await claim('--preview-listen', options.previewListen, log, (address) =>
      previews.listen(address),
    );
    const site = { domain: options.previewDomain, port: previewPort };
    services.previews.servedAt(site);
    ssh = await openSsh(options.sshListen, service, log);
    await http.listen({ ...options.listen }).catch((error: unknown) => {
      throw unusable('--listen', options.listen, error);
    });
    const url = urlOf(http.server.address() as AddressInfo);
    services.authorizations?.servedAt(options.publicUrl ?? url);
    log.info('listening', {
      api: url,
      previews: `${options.previewListen.host}:${site.port}`,
      ssh: `${ssh.address.host}:${ssh.address.port}`,
    });
    if (options.prove) {
      process.stdout.write(
        `${await prove(url, service.apiKey)}\n${howTo(url, site, ssh.address, service)}\n`,
      );
    }
    process.stdout.write(`ready ${url}\n`);
    await aborted(signal);
    log.info('stopping');
  } finally {
    await Promise.all([http.close(), mcp.close(), previews.close(), ssh?.close()]);
    await service.close();
  }
  return 0;
}

async function openSsh(
  listen: GatewayAddress,
  { ssh, services }: RunningService,
  log: Log,
): Promise<SshGateway> {
  const { visits, hostKey } = ssh;
  const parts = { hostKey: hostKey.privateKey, thread: SSH_THREAD, visits, log };
  const gateway = await claim('--ssh-listen', listen, log, (address) =>
    openSshGateway({ ...parts, listen: address }),
  );
  const { host, port } = gateway.address;
  services.sshAccess.serveAt({ host: reachable(host), port, hostKey: hostKey.publicKey });
  return gateway;
}

/**
 * Several services share a host without being told of each other: where another has the standard port, and nobody chose
 * it for this one, a free one does.
 */
async function claim<T>(
  flag: string,
  { host, port, chosen }: GatewayAddress,
  log: Log,
  listen: (address: Address) => Promise<T>,
): Promise<T> {
  try {
    return await listen({ host, port });
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (chosen || !taken) throw unusable(flag, { host, port }, error);
    log.warn('the standard port is taken, so a free one is used; choose one to keep it', { flag, port });
    return listen({ host, port: 0 });
  }
}

function unusable(flag: string, { host, port }: Address, error: unknown): SandhavenError {
  const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return new SandhavenError(
    'failed_precondition',
    `${host}:${port} cannot be listened on${taken ? ': another program does' : ''}.`,
    { parameter: flag, hint: `Stop that program, or give another address with ${flag}.` },
    error,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function allowedHosts({ listen: { host }, publicUrl }: UpOptions): string[] {
  const named = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  if (!WILDCARDS.includes(host)) return [...LOOPBACK, ...named, host];
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return [...LOOPBACK, ...named, ...own.map(({ address }) => address)];
}

/** An address of this machine in place of all of them. */
function reachable(host: string): string {
  return WILDCARDS.includes(host) ? '127.0.0.1' : host;
}

function urlOf({ address, port, family }: AddressInfo): string {
  const host = reachable(address);
  return family === 'IPv6' && host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}

function howTo(
  url: string,
  site: { domain: string; port: number },
  ssh: Address,
  { apiKeyFile }: RunningService,
): string {
  const config = {
    mcpServers: {
      sandhaven: { type: 'http', url: `${url}/mcp`, headers: { Authorization: 'Bearer <API_KEY>' } },
    },
  };
  return [
    `API      ${url} (OpenAPI at ${url}/openapi.json)`,
    `Previews http://*.${site.domain}:${site.port}`,
    `SSH      ${ssh.host}:${ssh.port} (bin/sandhaven ssh SANDBOX, or Sandbox.CreateSshAccess)`,
    `API key  ${apiKeyFile ? `in ${apiKeyFile}` : 'the one in SANDBOX_API_KEY'}`,
    'For an MCP client:',
    JSON.stringify(config, null, 2),
  ].join('\n');
}
