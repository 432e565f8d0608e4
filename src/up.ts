/** `sandhaven up`: the service in the foreground, until SIGTERM or SIGINT. */

import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { allowedHosts, howTo, reachable, urlOf } from './announce.ts';
import { selectTools } from './catalog/toolsets.ts';
import type { Log } from './control/ports.ts';
import { PreviewGateway } from './gateways/preview/gateway.ts';
import { openSshGateway, type SshGateway } from './gateways/ssh/gateway.ts';
import { createLog } from './log.ts';
import { createArrivals } from './model/arrival.ts';
import { SandhavenError } from './model/errors.ts';
import type { PreviewSite } from './model/public-site.ts';
import type { Address, DocumentDbOptions, GatewayAddress, UpOptions } from './options.ts';
import { prove } from './prove.ts';
import { type RunningService, startService } from './service.ts';
import { createHttpServer } from './surfaces/http/server.ts';
import { createMcpEndpoint } from './surfaces/mcp/endpoint.ts';
import { TlsServing } from './tls/serving.ts';
import { version } from './version.ts';

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
  const { previewDomain: domain, publicUrl } = options;
  const tls = await openTls(options, log);
  const service = await startService({
    dataDir: options.dataDir,
    warmPool: options.warmPool,
    imageKeptMinutes: options.imageKeptMinutes,
    auditKeptDays: options.auditKeptDays,
    apiKey,
    gpuKind: options.gpuKind,
    gitAllow: options.gitAllow,
    registryRules: options.registryRules,
    provider: options.provider,
    quota: options.quota,
    rate: options.rate,
    regions: options.regions,
    documentDb,
    clock: Date,
    log,
  });
  const { services } = service;
  const arrivals = createArrivals(options.trustedProxies);
  const mcp = createMcpEndpoint({ services, log, version, tools });
  const http = createHttpServer({
    ...{ services, log, version, tools, mcp, arrivals, tls, publicUrl },
    allowedHosts: allowedHosts(options.listen, publicUrl),
    ready: () => true,
  });
  let ssh: SshGateway | undefined;
  const previews = new PreviewGateway({ access: service.previewAccess, domain, arrivals, tls, log });
  const reload = () => void tls?.reload();
  if (tls) process.on('SIGHUP', reload);
  try {
    // First, so that no call is answered before its preview or its SSH access can be.
    const previewPort = await claim('--preview-listen', options.previewListen, log, (address) =>
      previews.listen(address),
    );
    const protocol = tls ? 'https' : 'http';
    const site: PreviewSite = options.previewUrl ?? { protocol, domain, port: previewPort };
    services.previews.servedAt(site);
    ssh = await openSsh(options.sshListen, service, log);
    await http.listen({ ...options.listen }).catch((error: unknown) => {
      throw unusable('--listen', options.listen, error);
    });
    const url = urlOf(protocol, http.server.address() as AddressInfo);
    services.authorizations?.servedAt(publicUrl ?? url);
    log.info('listening', {
      api: url,
      previews: `${options.previewListen.host}:${previewPort}`,
      ssh: `${ssh.address.host}:${ssh.address.port}`,
    });
    if (options.prove) {
      const proof = await prove(url, service.apiKey, tls?.chain);
      const { apiKeyFile } = service;
      const [region] = options.regions;
      const told = { url: publicUrl ?? url, site, ssh: ssh.address, apiKeyFile, region };
      process.stdout.write(`${proof}\n${howTo(told)}\n`);
    }
    process.stdout.write(`ready ${url}\n`);
    await aborted(signal);
    log.info('stopping');
  } finally {
    process.off('SIGHUP', reload);
    tls?.close();
    await Promise.all([http.close(), mcp.close(), previews.close(), ssh?.close()]);
    await service.close();
  }
  return 0;
}

/** Before anything else is begun: a certificate that does not do is told at once. */
async function openTls(
  { tls: files, publicUrl, previewDomain }: UpOptions,
  log: Log,
): Promise<TlsServing | null> {
  if (!files) return null;
  const api = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  return TlsServing.open({ files, hosts: [...api, `*.${previewDomain}`], log });
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
