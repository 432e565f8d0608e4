/** The listeners of a service: the API with MCP, previews and SSH, opened in order. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tool } from '../catalog/base/tool.ts';
import type { Log } from '../control/ports/index.ts';
import { PreviewGateway } from '../gateways/preview/gateway.ts';
import { openSshGateway, type SshGateway } from '../gateways/ssh/gateway.ts';
import { threadModule, version } from '../home.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createArrivals } from '../model/network/arrival.ts';
import { originForPeople, type PreviewSite } from '../model/network/service-names.ts';
import { PREVIEW_TOKEN_HEADER } from '../surfaces/daytona/base/call.ts';
import { addDaytonaRoutes } from '../surfaces/daytona/routes.ts';
import { leadToRoute, wasLed } from '../surfaces/e2b/base/address.ts';
import { addE2bRoutes } from '../surfaces/e2b/routes.ts';
import { visitsOf } from '../surfaces/e2b/visits.ts';
import { LastCalls } from '../surfaces/http/last-calls.ts';
import type { PackageFile } from '../surfaces/http/packages.ts';
import type { PageFiles } from '../surfaces/http/page.ts';
import { createHttpServer } from '../surfaces/http/server.ts';
import { SharedRoom } from '../surfaces/json/bodies.ts';
import type { TlsServing } from '../tls/serving.ts';
import { allowedHosts, howTo, sshAddress, urlOf } from './options/announce.ts';
import type { Address, GatewayAddress } from './options/listeners.ts';
import type { UpOptions } from './options/up-options.ts';
import type { KeptSockets } from './parts/kept-sockets.ts';
import { mcpEndpointOnUse } from './parts/loaded-on-use.ts';
import { prove } from './prove.ts';
import type { RunningService } from './service.ts';

/** File beside this one, from source (.ts) or from a build (.js). */
const SSH_THREAD = threadModule('app/ssh-worker');

/** With the file of a socket that listens there already, if any. */
type ListeningAddress = GatewayAddress & { fd?: number };

interface ListenerDependencies {
  options: UpOptions;
  tools: readonly Tool[];
  tls: TlsServing | null;
  /** null when it was not built. */
  page: PageFiles | null;
  packages: readonly PackageFile[];
  kept: KeptSockets;
  log: Log;
}

export interface Listeners {
  /** Resolves to the API's own address, once all of them listen and, with `prove`, the proof has passed. */
  open(): Promise<string>;
  /** Serves until the calls in progress have ended, within a bound; then closes. */
  close(): Promise<void>;
}

export function createListeners(
  service: RunningService,
  { options, tools, tls, page, packages, kept, log }: ListenerDependencies,
) {
  const { previewDomain: domain, publicUrl } = options;
  const { services } = service;
  const arrivals = createArrivals(options.trustedProxies);
  const speaksDaytona = options.compat.includes('daytona');
  const speaksE2b = options.compat.includes('e2b');
  const e2bVisits = visitsOf(services.sandboxTokens);
  const room = new SharedRoom();
  const lastCalls = new LastCalls();
  const mcp = mcpEndpointOnUse({ services, log, version, tools, room });
  const http = createHttpServer({
    ...{ services, log, version, tools, mcp, arrivals, tls, publicUrl, room, lastCalls, page, packages },
    tracer: service.tracer,
    exit: service.exit,
    allowedHosts: allowedHosts(options.listen, publicUrl),
    further(app, parts) {
      if (speaksDaytona) addDaytonaRoutes(app, parts);
      if (speaksE2b) addE2bRoutes(app, parts);
    },
    ...(speaksE2b ? { isLed: wasLed } : {}),
    ready: () => service.readiness.check(),
  });
  const previews = new PreviewGateway({
    ...{ access: service.previewAccess, files: services.filePreviews },
    ...{ domain, arrivals, tls, log },
    ...(speaksE2b ? { ...e2bVisits, answersElsewhere: leadToE2b } : {}),
    tokenHeaders: [
      ...(speaksDaytona ? [PREVIEW_TOKEN_HEADER] : []),
      ...(speaksE2b ? e2bVisits.tokenHeaders : []),
    ],
    onAnswer: (status) => services.metrics.previewAnswers.note(status),
  });
  let ssh: SshGateway | undefined;

  /** Answers requests for names of E2B's, which the listener of previews has, by the API's routes. */
  function leadToE2b(request: IncomingMessage, response: ServerResponse, host: string | undefined): boolean {
    if (!leadToRoute(request, host, domain)) return false;
    http.routing(request, response);
    return true;
  }

  return {
    async open(): Promise<string> {
      // Before the listener of previews, which leads some requests to its routes.
      await http.ready();
      // Gateways first: the API answers no call before previews and SSH access work.
      const previewAt = kept.at('--preview-listen', options.previewListen);
      const previewPort = await claim('--preview-listen', previewAt, log, (address) =>
        previews.listen(address),
      );
      kept.opened('--preview-listen', previewAt, previews.server);
      const protocol = tls ? 'https' : 'http';
      const site: PreviewSite = options.previewUrl ?? { protocol, domain, port: previewPort };
      services.previews.servedAt(site);
      ssh = await openSsh(kept.at('--ssh-listen', options.sshListen), service, log);
      kept.opened('--ssh-listen', options.sshListen, ssh.server);
      const sshAt = sshAddress({ ...options, listening: ssh.address });
      services.sshAccess.serveAt({ ...sshAt, hostKey: service.ssh.hostKey.publicKey });
      const apiAt = { ...kept.at('--listen', options.listen), backlog: limits.listenBacklog };
      await http.listen(apiAt).catch((error: unknown) => {
        throw unusable('--listen', options.listen, error);
      });
      kept.opened('--listen', options.listen, http.server);
      const url = urlOf(protocol, http.server.address() as AddressInfo);
      services.authorizations?.servedAt(publicUrl ?? url);
      const page = originForPeople(publicUrl ?? url);
      for (const part of [services.signIns, services.deviceSignIns, services.passkeys]) part.servedAt(page);
      services.identityProviderSignIns?.servedAt(page);
      log.info('listening', {
        api: url,
        previews: `${options.previewListen.host}:${previewPort}`,
        ssh: `${ssh.address.host}:${ssh.address.port}`,
      });
      if (options.prove) {
        const proof = await prove(url, service.apiKey, tls?.chain).catch((error) =>
          unlessFull(error, service),
        );
        const { apiKeyFile } = service;
        const [region] = options.regions;
        const signInUrl = await services.signIns.firstLink();
        const addresses = { url: publicUrl ?? url, signInUrl, site, ssh: sshAt, apiKeyFile, region };
        process.stdout.write(`${proof}\n${howTo(addresses)}\n`);
      }
      return url;
    },

    async close(): Promise<void> {
      await Promise.all([lastCalls.drain(), previews.drain()]);
      await Promise.all([http.close(), mcp.close(), previews.close(), ssh?.close()]);
    },
  };
}

/** A full service has to start, or nobody could delete a sandbox. One that has none, and no room for one, is of no use. */
async function unlessFull(error: unknown, { services }: RunningService): Promise<string> {
  if (!(error instanceof SandhavenError) || error.code !== 'resource_exhausted') throw error;
  const { totalCount } = await services.everybody.list({}, { page: 1, pageSize: 1 });
  if (totalCount === 0) throw error;
  return `${error.message} The service runs all the same.`;
}

async function openSsh(listen: ListeningAddress, { ssh }: RunningService, log: Log): Promise<SshGateway> {
  const { visits, hostKey } = ssh;
  const parts = { hostKey: hostKey.privateKey, thread: SSH_THREAD, visits, log };
  return claim('--ssh-listen', listen, log, (address) => openSshGateway({ ...parts, listen: address }));
}

/**
 * Listens on the given port, or on a free one when the standard port is in use and the operator chose none: several
 * services share a host without configuration.
 */
async function claim<T>(
  flag: string,
  { chosen, ...address }: ListeningAddress,
  log: Log,
  listen: (address: Address & { fd?: number }) => Promise<T>,
): Promise<T> {
  const { host, port } = address;
  try {
    return await listen(address);
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (chosen || !taken) throw unusable(flag, { host, port }, error);
    log.warn('the standard port is taken, so a free one is used; set the flag to keep one', { flag, port });
    return listen({ host, port: 0 });
  }
}

function unusable(flag: string, { host, port }: Address, error: unknown): SandhavenError {
  const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return new SandhavenError(
    'failed_precondition',
    taken ? `Address ${host}:${port} is in use by another program.` : `Cannot listen on ${host}:${port}.`,
    {
      parameter: flag,
      hint: `${taken ? 'Stop that program, or give' : 'Give'} another address with ${flag}.`,
    },
    error,
  );
}
