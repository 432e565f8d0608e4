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
import {
  contentTypeOf,
  elsewhere,
  faultOfStatus,
  type GitRequest,
  headersToGit,
  headersToRemote,
  notGit,
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

/** Exceeds the commands of any push of one branch; the pack begins after them. */
const MAX_BYTES = 64 * 1024;
const LENGTH_DIGITS = 4;
const command = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([^\0\n]+)(?:\0.*)?\n?$/s;
const shallow = /^shallow [0-9a-f]{40,64}\n?$/;

/**
 * Reads a push's ref updates before the remote gets them: only the one branch that the caller named may change, and
 * it may not be deleted. A git inside that does something else cannot use the credentials for it. Takes the commands
 * off the stream. Returns the bytes read, to be sent first; null when they ask for anything but an update of `ref`.
 */
async function readPushCommands(body: Readable, ref: string): Promise<Buffer | null> {
  let read = Buffer.alloc(0);
  while (read.length <= MAX_BYTES) {
    const verdict = judge(read, ref);
    if (verdict !== 'more') return verdict === 'good' ? read : null;
    const chunk = await nextChunk(body);
    if (chunk === null) return null;
    read = Buffer.concat([read, chunk]);
  }
  return null;
}

type Verdict = 'good' | 'bad' | 'more';

/** Git's pkt-lines: four hexadecimal digits of length, themselves counted, then so many bytes; `0000` ends the list. */
export function judge(read: Buffer, ref: string): Verdict {
  for (let at = 0; ; ) {
    if (at + LENGTH_DIGITS > read.length) return 'more';
    const digits = read.toString('latin1', at, at + LENGTH_DIGITS);
    if (!/^[0-9a-f]{4}$/.test(digits)) return 'bad';
    const length = Number.parseInt(digits, 16);
    if (length === 0) return 'good';
    if (length <= LENGTH_DIGITS) return 'bad';
    if (at + length > read.length) return 'more';
    const line = read.toString('utf8', at + LENGTH_DIGITS, at + length);
    const [, , to = '', name] = command.exec(line) ?? [];
    if (!shallow.test(line) && (name !== ref || /^0+$/.test(to))) return 'bad';
    at += length;
  }
}

function nextChunk(body: Readable): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const take = () => {
      const chunk: Buffer | null = body.read();
      if (chunk === null && !body.readableEnded && !body.destroyed) return;
      for (const event of ['readable', 'end', 'close', 'error']) body.off(event, take);
      resolve(chunk);
    };
    for (const event of ['readable', 'end', 'close', 'error']) body.on(event, take);
    take();
  });
}
