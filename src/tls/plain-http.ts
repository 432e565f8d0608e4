/**
 * Answers plain HTTP on a TLS port with a 400 that says so. Not with a redirect: clients would follow it at every
 * request, and keep sending their keys in clear text.
 */
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';

/** Type of a TLS record that begins a handshake; no HTTP request begins with it. */
const HANDSHAKE = 0x16;

const TEXT = 'This port speaks TLS: use https:// in place of http://.\n';
const ANSWER =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n' +
  `Content-Length: ${Buffer.byteLength(TEXT)}\r\n\r\n${TEXT}`;

/** Reads the first byte of each connection before the server does. */
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
