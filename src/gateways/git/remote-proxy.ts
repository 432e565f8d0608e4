/**
 * Proxies one remote repository for one git inside a sandbox, for one operation: an HTTP server without a port of
 * its own, on the connections that the agent hands over. It adds the credentials. No response contains them, and
 * no request leads to another repository, origin or protocol.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Duplex, PassThrough, type Readable } from 'node:stream';
import type { GitAccess, GitProxy, GitPurpose } from '../../control/ports/index.ts';
import { gatherPieces } from '../../fairness/body-pieces.ts';
import type { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';
import { limits } from '../../model/limits.ts';
import { hasOneHost } from '../../model/network/arrival.ts';
import { elsewhere, faultOfStatus, notGit } from './answers.ts';
import { readPushCommands } from './push-commands.ts';
import {
  contentTypeOf,
  type GitRequest,
  headersToGit,
  headersToRemote,
  pathOf,
  requestOf,
} from './smart-http.ts';
import { brokenBy, type Upstream } from './upstream.ts';

const AMBIGUOUS = 400;
const REFUSED = 403;
const BROKEN = 502;
const EXPLAINED = [401, 403, 404];
const ADVERTISEMENT_TAIL = '/info/refs';

export interface RemoteProxyDependencies {
  remote: GitUrl;
  access: GitAccess;
  purpose: GitPurpose;
  upstream: Upstream;
  nonce: string;
}

export class RemoteProxy implements GitProxy {
  readonly nonce: string;
  readonly #parts: RemoteProxyDependencies;
  readonly #server: Server;
  readonly #connections = new Set<Duplex>();
  readonly #ended = new AbortController();
  /** The remote has proved to be a Git server that accepts these credentials. */
  #advertised = false;
  #failure: SandhavenError | null = null;
  #received = 0;

  constructor(parts: RemoteProxyDependencies) {
    this.#parts = parts;
    this.nonce = parts.nonce;
    this.#server = createServer({ requestTimeout: 0 }, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.on('clientError', (_error, connection) => connection.destroy());
  }

  get failure(): SandhavenError | null {
    return this.#failure;
  }

  get received(): number {
    return this.#received;
  }

  accept(connection: Duplex): void {
    connection.on('error', () => {});
    if (this.#ended.signal.aborted || this.#connections.size >= limits.git.gatewayConnections) {
      connection.destroy();
      return;
    }
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
    this.#server.emit('connection', connection);
  }

  close(): void {
    this.#ended.abort();
    for (const connection of this.#connections) connection.destroy();
    this.#parts.upstream.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    gatherPieces(request);
    request.on('error', () => {});
    response.on('error', () => {});
    if (!hasOneHost(request)) return refuse(request, response, AMBIGUOUS);
    const { purpose } = this.#parts;
    const kind = requestOf(request, this.nonce, purpose);
    // Only a fault of the remote fails the operation: any process inside the sandbox may connect here.
    if (kind === null || (kind === 'exchange' && !this.#advertised))
      return refuse(request, response, REFUSED);
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    try {
      const signal = AbortSignal.any([leaving.signal, this.#ended.signal]);
      const body = kind === 'exchange' ? await this.#bodyOf(request) : undefined;
      if (body === null) return refuse(request, response, REFUSED);
      const answer = await this.#ask(kind, request, body, signal);
      this.#pass(kind, answer, response);
    } catch (error) {
      if (!leaving.signal.aborted && !this.#ended.signal.aborted) this.#fail(error);
      refuse(request, response, BROKEN);
    }
  }

  /** Returns null for a push of anything but the named branch. */
  async #bodyOf(request: IncomingMessage): Promise<Readable | null> {
    const { purpose } = this.#parts;
    if (purpose.service === 'git-upload-pack') return request;
    if (request.headers['content-encoding'] !== undefined) return null;
    const commands = await readPushCommands(request, purpose.ref);
    if (commands === null) return null;
    const body = new PassThrough();
    body.write(commands);
    request.once('close', () => {
      if (!request.complete) body.destroy(new Error('git went away'));
    });
    return request.readableEnded ? body.end() : request.pipe(body);
  }

  /** Redirects are followed for the advertisement alone, and never to another origin. */
  async #ask(
    kind: GitRequest,
    request: IncomingMessage,
    body: Readable | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { remote, purpose, access, upstream } = this.#parts;
    const headers = headersToRemote(kind, purpose, request.headers, access.login);
    const method = kind === 'exchange' ? 'POST' : 'GET';
    for (let redirects = 0; ; redirects++) {
      const path = upstream.path + pathOf(kind, purpose);
      const answer = await upstream.send({ method, path, headers, signal, ...(body ? { body } : {}) });
      const { statusCode = 0 } = answer;
      const location = answer.headers.location;
      if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
        answer.destroy();
        if (kind === 'exchange' || redirects >= limits.git.redirects) throw elsewhere(remote, null);
        this.#follow(location, path);
        continue;
      }
      const right = answer.headers['content-type']?.toLowerCase() === contentTypeOf(kind, purpose);
      if (statusCode === 200 && right) return answer;
      answer.destroy();
      if (statusCode === 200) throw notGit(remote);
      if (access.explain && EXPLAINED.includes(statusCode)) throw await access.explain();
      throw faultOfStatus(remote, purpose, statusCode);
    }
  }

  /** Moves the pinned path to the repository's new path, as the remote's redirect names it. */
  #follow(location: string, from: string): void {
    const { remote, purpose, upstream } = this.#parts;
    const target = upstream.redirect(location, from);
    if ('elsewhere' in target) throw elsewhere(remote, target.elsewhere);
    const tail = `${ADVERTISEMENT_TAIL}?service=${purpose.service}`;
    if (!target.path.endsWith(tail)) throw notGit(remote);
    upstream.path = target.path.slice(0, -tail.length);
  }

  #pass(kind: GitRequest, answer: IncomingMessage, response: ServerResponse): void {
    const { purpose, remote } = this.#parts;
    if (kind === 'advertisement') this.#advertised = true;
    response.writeHead(200, headersToGit(kind, purpose, answer.headers));
    answer.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
    });
    answer.once('error', (error) => {
      if (!this.#ended.signal.aborted && !response.destroyed) this.#fail(brokenBy(error, remote));
      response.destroy();
    });
    answer.pipe(response);
  }

  /** The first error counts: git giving up causes the later ones. */
  #fail(error: unknown): void {
    this.#failure ??= brokenBy(error, this.#parts.remote);
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end('refused\n');
  request.resume();
}
