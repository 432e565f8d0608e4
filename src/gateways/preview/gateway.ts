/**
 * Serves previews: an HTTP listener of its own, on which each port of each sandbox is a site by its host name. It
 * serves nothing else, and asks for no key but the token of that site. Nothing of a visit outlives the token's
 * expiry. Requests reach the sandbox's own loopback, through the agent.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { InProgress } from '../../concurrency/closing.ts';
import type { FilePreviews } from '../../control/access/file-previews.ts';
import type { Admission, PreviewAccess } from '../../control/access/preview-access.ts';
import type { Log } from '../../control/ports/index.ts';
import { gatherPieces } from '../../fairness/body-pieces.ts';
import { paceConnections } from '../../fairness/paced-connection.ts';
import { isDefect } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Arrival, Arrivals } from '../../model/network/arrival.ts';
import type { TlsServing } from '../../tls/serving.ts';
import { sendFile } from './file.ts';
import { forward, type Visit } from './forward.ts';
import { assertPlain, hasBody, TOKEN_HEADER } from './headers.ts';
import { IdleVisitors } from './idle-visitors.ts';
import { Refusal, refusalOf, refuse } from './refusal.ts';
import { Upstreams } from './upstreams.ts';

interface PreviewGatewayDependencies {
  access: PreviewAccess;
  files: Pick<FilePreviews, 'admit' | 'visit'>;
  domain: string;
  arrivals: Arrivals;
  /** Null for plain HTTP. */
  tls: TlsServing | null;
  log: Log;
  /** Further headers that carry a visitor's token, in lower case. */
  tokenHeaders?: readonly string[];
  /** Returns true where another part of the service answers the request by its host, and not a preview. */
  answersElsewhere?(request: IncomingMessage, response: ServerResponse, host: string | undefined): boolean;
  /** Admits to a port by a token of another kind. */
  admitElse?(sandboxId: string, port: number, token: string): Promise<Admission | null>;
  /** Returns the refusal to a visitor whom nothing admits, in place of the usual one. */
  unadmitted?(sandboxId: string): Promise<{ status: number; json: object }>;
  /** Called with the status of each answer. */
  onAnswer?(status: number): void;
}

export class PreviewGateway {
  readonly #parts: PreviewGatewayDependencies;
  readonly #server: Server;
  readonly #upstreams: Upstreams;
  readonly #idle = new IdleVisitors();
  readonly #visits = new InProgress<ServerResponse>();
  #graceMs: number = limits.closeGraceMs;
  /** Visits that have had their grace period. */
  #late: ServerResponse[] = [];
  /** Connections that no longer speak HTTP; the server no longer tracks them. */
  readonly #upgraded = new Set<Socket>();
  #closing = false;

  constructor(parts: PreviewGatewayDependencies) {
    this.#parts = parts;
    this.#upstreams = new Upstreams((id, port, signal) => parts.access.connect(id, port, signal));
    const options: ServerOptions = {
      ...{ maxHeaderSize: limits.preview.requestHeaderBytes, insecureHTTPParser: false, keepAlive: true },
      // Node's own refusal says nothing, and misses requests for an upgrade.
      requireHostHeader: false,
      ...{ headersTimeout: limits.requestHeadersMs, connectionsCheckingInterval: limits.connectionCheckMs },
      // A request may take as long as bytes arrive, and a response as long as the application likes.
      ...{ requestTimeout: 0, keepAliveTimeout: limits.preview.visitorIdleMs, noDelay: true },
      // A request with a body must be read whole, so it cannot upgrade to another protocol.
      shouldUpgradeCallback: (request) => !hasBody(request),
    };
    this.#server = parts.tls ? parts.tls.createServer(options) : createServer(options);
    this.#server.maxConnections = limits.preview.connections;
    this.#server.on('request', (request, response) => this.#visit(request, response, null));
    this.#server.on('checkContinue', (request, response) => this.#visit(request, response, null));
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    this.#server.on('clientError', answerNonsense);
    const connected = parts.tls ? 'secureConnection' : 'connection';
    this.#server.on(connected, (socket: Socket) => this.#idle.enter(socket));
    paceConnections(this.#server, connected);
  }

  /**
   * Resolves with the bound port.
   * @param address With the file of a socket that listens there already, if any.
   */
  listen(address: { host: string; port: number; fd?: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ ...address, backlog: limits.listenBacklog }, () => {
        this.#server.off('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Resolves once requests that are in progress now have ended, within limits.closeGraceMs. Others are served. */
  async drain(): Promise<void> {
    this.#late = await this.#visits.endOfThese(limits.closeGraceMs);
    this.#graceMs = limits.lastCallsMs;
  }

  get server(): Server {
    return this.#server;
  }

  /** Requests in progress get a grace period; upgraded connections, which have no end of their own, end now. */
  async close(): Promise<void> {
    this.#closing = true;
    const cut = setInterval(() => this.#server.closeAllConnections(), this.#graceMs);
    for (const socket of this.#upgraded) socket.destroy();
    for (const response of this.#late) response.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
    clearInterval(cut);
    this.#upstreams.close();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (this.#closing) return void socket.destroy();
    socket.setTimeout(0);
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // A response that refuses the upgrade is the connection's last.
    response.once('finish', () => socket.destroySoon());
    this.#visit(request, response, { protocol: request.headers.upgrade ?? '', head });
  }

  #visit(request: IncomingMessage, response: ServerResponse, upgrade: Visit['upgrade']): void {
    gatherPieces(request);
    if (!this.#idle.begin(request.socket)) return;
    if (!upgrade) response.once('close', this.#visits.begin(response));
    response.once('close', () => {
      this.#idle.end(request.socket);
      this.#parts.onAnswer?.(response.statusCode);
    });
    const endsTimer = whileArriving(request);
    this.#answer(request, response, upgrade)
      .catch((error: unknown) => {
        const refusal = refusalOf(error);
        if (!refusal && isDefect(error, response.closed)) this.#parts.log.error('preview failed', { error });
        refuse(response, refusal ?? new Refusal(500, 'The preview failed with an internal error.'));
      })
      .finally(endsTimer);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    upgrade: Visit['upgrade'],
  ): Promise<void> {
    const { access, files, domain, arrivals } = this.#parts;
    const tokenHeaders = [TOKEN_HEADER, ...(this.#parts.tokenHeaders ?? [])];
    const arrival = arrivals(request);
    assertPlain(request);
    if (!upgrade && this.#parts.answersElsewhere?.(request, response, arrival.host)) return closed(response);
    const address = knownAddress(arrival, domain);
    if (address.kind === 'file') {
      return sendFile({ request, response, client: arrival.client || null }, address.token, files);
    }
    const signed = address.kind === 'signed';
    const admission = await (signed
      ? access.admitSigned(address.port, address.token)
      : this.#admitAt(address, tokenOf(request, tokenHeaders)));
    if (!admission) throw await this.#unadmitted(address);
    const target = { sandboxId: admission.sandboxId, port: address.port };
    await access.visit(
      admission,
      arrival.client || null,
      () => request.socket.destroy(),
      () => forward({ request, response, arrival, target, signed, upgrade, tokenHeaders }, this.#upstreams),
    );
  }

  /** A port that is open to everybody is so to who sends a wrong token, too. */
  async #admitAt(
    { sandboxId, port }: { sandboxId: string; port: number },
    token: string,
  ): Promise<Admission | null> {
    const { access, admitElse } = this.#parts;
    return (
      (await access.admitStandard(sandboxId, port, token)) ??
      (await admitElse?.(sandboxId, port, token)) ??
      access.admitPublic(sandboxId, port)
    );
  }

  async #unadmitted(address: PreviewAddress): Promise<Refusal> {
    const other = address.kind === 'standard' && (await this.#parts.unadmitted?.(address.sandboxId));
    return other
      ? new Refusal(other.status, JSON.stringify(other.json), { json: true })
      : unadmitted(address);
  }
}

async function closed(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
}

function knownAddress({ host }: Arrival, domain: string): PreviewAddress {
  const address = previewAddress(host, domain);
  if (address === 'foreign') {
    throw new Refusal(421, 'Previews do not answer to that Host.', { close: true });
  }
  if (address === 'unknown') {
    throw new Refusal(404, 'There is no such preview.\nAsk whoever shared it for its address.');
  }
  return address;
}

function tokenOf({ headers }: IncomingMessage, names: readonly string[]): string {
  const token = names.map((name) => headers[name]).find((value) => value !== undefined);
  return typeof token === 'string' ? token : '';
}

function unadmitted({ kind }: PreviewAddress): Refusal {
  return new Refusal(
    401,
    kind === 'signed'
      ? 'This preview has expired or never existed.\nAsk whoever shared it for a new address.'
      : `This preview answers only with its token in the header ${TOKEN_HEADER}.\n` +
          'To open it in a browser, ask whoever shared it for a signed address.',
  );
}

/** Ends the connection of a body that stops arriving and that nobody answers. */
function whileArriving(request: IncomingMessage): () => void {
  const { socket } = request;
  if (!hasBody(request)) return () => {};
  const late = () => socket.destroy();
  const stop = () => {
    socket.setTimeout(0);
    socket.off('timeout', late);
  };
  socket.setTimeout(limits.byteStreamIdleMs);
  socket.on('timeout', late);
  request.once('end', stop);
  return stop;
}

/** Answers malformed, late and oversized requests with one line. */
function answerNonsense(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/**
 * Parses a Host header into the preview that it names. Each sandbox and port is a site of its own:
 * `{port}-{id without sb_}.{domain}` for a standard one, `{port}-{token}.{domain}` for a signed one, and each file
 * `file-{token}.{domain}`.
 */
type PreviewAddress =
  | { kind: 'standard'; port: number; sandboxId: string }
  | { kind: 'signed'; port: number; token: string }
  /** One file, which the path names. */
  | { kind: 'file'; token: string };

const FILE_LABEL = /^file-([a-z2-7]{26})$/;
const LABEL = /^([1-9]\d{0,4})-(?:([0-9a-z]{16})|([a-z2-7]{26}))$/;
const PORT_MAX = 65_535;

/** Returns `foreign` for a host outside the domain, `unknown` for one inside it that can be no preview. */
function previewAddress(host: string | undefined, domain: string): PreviewAddress | 'foreign' | 'unknown' {
  const name = host?.toLowerCase().replace(/:\d{1,5}$/, '') ?? '';
  if (!name.endsWith(`.${domain}`)) return 'foreign';
  const label = name.slice(0, -domain.length - 1);
  const [, fileToken] = FILE_LABEL.exec(label) ?? [];
  if (fileToken !== undefined) return { kind: 'file', token: fileToken };
  const [, number, id, token] = LABEL.exec(label) ?? [];
  const port = Number(number);
  if (port > PORT_MAX) return 'unknown';
  if (id !== undefined) return { kind: 'standard', port, sandboxId: `sb_${id}` };
  return token === undefined ? 'unknown' : { kind: 'signed', port, token };
}
