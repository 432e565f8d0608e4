/**
 * TLS for the service's listeners: one certificate for all of them, replaced while they serve. Open connections keep
 * the certificate of their start; an unusable new pair of files changes nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Certificate, type CertificateFiles, fingerprint, readCertificate } from './certificate.ts';

/** Ciphers with forward secrecy and authenticated encryption only; every cipher of TLS 1.3 has both. */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

export interface ServingOptions {
  files: CertificateFiles;
  /** Hosts that clients use; the log names those that a certificate does not cover. */
  hosts: readonly string[];
  log: Log;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export class TlsServing {
  readonly #options: ServingOptions;
  readonly #servers = new Set<Server>();
  #certificate: Certificate;
  /** Fingerprints: of the files read last, valid or not; and of the files seen last. */
  #read: string | null;
  #seen: string | null;
  #timer: NodeJS.Timeout | null = null;

  private constructor(options: ServingOptions, certificate: Certificate, mark: string | null) {
    this.#options = options;
    this.#certificate = certificate;
    this.#read = mark;
    this.#seen = mark;
  }

  /** Rejects an unusable first certificate with `failed_precondition`. */
  static async open(options: ServingOptions): Promise<TlsServing> {
    // Taken before the read, so that a change meanwhile counts as a change.
    const mark = await fingerprint(options.files);
    const certificate = await readCertificate(options.files);
    const serving = new TlsServing(options, certificate, mark);
    serving.#report('serving with this certificate');
    serving.#watch();
    return serving;
  }

  /** PEM of the current chain, the server's own certificate first. */
  get chain(): string {
    return this.#certificate.chain;
  }

  createServer(options: ServerOptions, handler?: Handler): Server {
    const server = createServer({
      ...options,
      ...this.#context(),
      handshakeTimeout: limits.tls.handshakeMs,
      // As in a server without TLS: an upgraded connection may end in one direction first.
      ...{ allowHalfOpen: true },
    });
    if (handler) server.on('request', handler);
    // Before the HTTP listener: a failed handshake gets no answer.
    server.prependListener('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy());
    answerPlainHttp(server);
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
    return server;
  }

  /** Reads the files again, changed or not. */
  async reload(): Promise<void> {
    const { files, log } = this.#options;
    this.#read = await fingerprint(files);
    try {
      this.#certificate = await readCertificate(files);
      for (const server of this.#servers) server.setSecureContext(this.#context());
      this.#report('serving with this certificate from now on');
    } catch (error) {
      log.error('keeping the old certificate: the new one is unusable', { error });
    }
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #context() {
    const { chain: cert, key } = this.#certificate;
    return { cert, key, minVersion: 'TLSv1.2' as const, ciphers: CIPHERS };
  }

  /** Watches both files, which are replaced one after the other; reloads after an interval without a change. */
  #watch(): void {
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => {
        if (this.#timer) this.#watch();
      });
    }, limits.tls.watchMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const mark = await fingerprint(this.#options.files);
    const settled = mark === this.#seen;
    this.#seen = mark;
    if (settled && mark !== null && mark !== this.#read) await this.reload();
  }

  #report(message: string): void {
    const { hosts, log } = this.#options;
    const { names, validFrom, validTo, covers } = this.#certificate;
    log.info(message, { names, valid_until: new Date(validTo).toISOString() });
    const now = Date.now();
    if (validTo < now || validFrom > now) log.warn('the certificate is not valid now', {});
    const others = hosts.filter((host) => !covers(host));
    if (others.length > 0) log.warn('the certificate does not cover these hosts', { hosts: others });
  }
}

/** Type of a TLS record that begins a handshake; no HTTP request begins with it. */
const HANDSHAKE = 0x16;

const TEXT = 'This port speaks TLS: use https:// in place of http://.\n';
const ANSWER =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n' +
  `Content-Length: ${Buffer.byteLength(TEXT)}\r\n\r\n${TEXT}`;

/**
 * Answers plain HTTP on a TLS port with a 400 that says so. Not with a redirect: clients would follow it at every
 * request, and keep sending their keys in clear text. Reads the first byte of each connection before the server does.
 */
export function answerPlainHttp(server: Server): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const late = setTimeout(() => socket.destroy(), limits.tls.firstByteMs);
    const failed = () => socket.destroy();
    socket.once('error', failed);
    socket.once('close', () => clearTimeout(late));
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (!first) {
        socket.destroy();
        return;
      }
      if (first[0] !== HANDSHAKE) {
        // Reads the rest of the request until then: a reset would discard the answer at the client.
        socket.resume();
        socket.end(ANSWER);
        return;
      }
      clearTimeout(late);
      socket.off('error', failed);
      socket.unshift(first);
      for (const listener of listeners) listener.call(server, socket);
    });
  });
}
