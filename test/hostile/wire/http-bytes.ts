/** HTTP of an attacker's own making: connections that do what no client library would. */
import { setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection that survives whatever the service does to it. */
export function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  return socket;
}

export interface Head {
  url: string;
  apiKey: string;
  path: string;
  method?: string;
  headers?: Record<string, string | number>;
}

/** All of a request up to its body. */
export function head({ url, apiKey, path, method = 'POST', headers = {} }: Head): string {
  const own = { host: new URL(url).host, authorization: `Bearer ${apiKey}`, ...headers };
  const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Resolves when the connection is gone or the signal is aborted, and leaves no connection. */
export function gone(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end);
      socket.destroy();
      resolve();
    };
    if (signal.aborted || socket.destroyed) return end();
    socket.once('close', end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Repeats `act` in so many lines at once until the signal is aborted; what it throws is a refusal like another. */
export async function keepUp(lines: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  setMaxListeners(0, signal);
  const line = async () => {
    while (!signal.aborted) {
      await act().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
}
