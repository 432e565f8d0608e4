/**
 * The way out of a program that fetches where members say. It runs in a network namespace of its own (`native/launcher/src/fetch.rs`),
 * and asks here for the addresses of each host that a registry leads it to. No byte of an image passes by here.
 */
import { once } from 'node:events';
import { createServer, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { SandhavenError } from '../../../model/errors.ts';
import { randomText } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { type Target, targetOf } from '../../../model/network/allowed-hosts.ts';
import { type Address, NotReached } from '../../../outbound/addresses.ts';
import { type Exit, isLocalhost } from '../../../outbound/exit.ts';
import { operatorNames } from '../../../outbound/operator-names.ts';

export interface Gates {
  exit: Exit;
  /** Path of the built native/launcher. */
  launcherPath: string;
  /** Folder for sockets that root alone can reach. */
  folder: string;
}

export interface Gate {
  /** Begins the command of a program behind the gate. */
  command: [program: string, ...args: string[]];
  /** Returns the error of the first host that was refused; null when none was. */
  refused(): unknown;
}

/** Closes the gate when `work` has ended. */
export async function behindGate<T>(
  { exit, launcherPath, folder }: Gates,
  { owner, signal }: { owner: string; signal: AbortSignal },
  work: (gate: Gate) => Promise<T>,
): Promise<T> {
  const path = join(folder, `${randomText(12)}.socket`);
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  let refused: unknown = null;

  async function answer(socket: Socket): Promise<void> {
    const target = await readTarget(socket);
    try {
      const { addresses, port, words } = await wayTo(target, { exit, owner, signal: either });
      const line = addresses.map(
        ({ address, family }) => `${family === 6 ? `[${address}]` : address}:${port}`,
      );
      socket.end(`${line.join(' ')}\n${words}`);
    } catch (error) {
      refused ??= error;
      socket.end(`\nHTTP/1.1 ${statusOf(error)}\r\nContent-Length: 0\r\n\r\n`);
    }
  }

  const server = createServer((socket) => {
    socket.on('error', () => {});
    addAbortSignal(either, socket);
    answer(socket).catch(() => socket.destroy());
  });
  server.maxConnections = limits.image.gateQuestions;
  server.listen(path);
  await once(server, 'listening');
  try {
    return await work({ command: [launcherPath, 'fetch', path], refused: () => refused });
  } finally {
    ended.abort();
    server.close();
  }
}

/** Reads `host:port` and the end of the line. */
async function readTarget(socket: Socket): Promise<Target> {
  let text = '';
  for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += piece.toString('latin1');
    if (text.endsWith('\n') || text.length > limits.image.referenceChars) break;
  }
  return targetOf(new URL(`https://${text.trim()}`));
}

interface Way {
  addresses: readonly Address[];
  port: number;
  /** For whoever answers at the address, before the program's own bytes. */
  words: string;
}

async function wayTo(
  target: Target,
  { exit, ...errand }: { exit: Exit; owner: string; signal: AbortSignal },
): Promise<Way> {
  const { host, port } = target;
  const proxy = operatorsProxy();
  // A proxy finds names by itself, and decides for itself what it reaches.
  if (proxy === null || isIP(host) !== 0 || isLocalhost(host)) {
    const addresses = await exit.addresses(target, { ...errand, allowed: [] });
    if (proxy === null) return { addresses, port, words: '' };
  }
  const at = targetOf(proxy);
  const family = isIP(at.host);
  const addresses =
    family === 0 ? await operatorNames.find(at.host, errand.signal) : [{ address: at.host, family }];
  return { addresses, port: at.port, words: connectBy(proxy, target) };
}

/** The proxy of the service's environment; null for none. */
function operatorsProxy(): URL | null {
  const text = process.env['https_proxy'] || process.env['HTTPS_PROXY'];
  if (!text) return null;
  const url = new URL(text.includes('://') ? text : `http://${text}`);
  if (url.protocol === 'http:') return url;
  throw new SandhavenError('unavailable', 'The proxy of this host takes no images that users choose.', {
    parameter: 'image',
    hint: 'An admin can set HTTPS_PROXY to a proxy of http://, or name the registry in --registry-allow.',
    retryable: false,
  });
}

function connectBy({ username, password }: URL, { host, port }: Target): string {
  const to = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const who = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
    'base64',
  );
  const login = username === '' ? '' : `Proxy-Authorization: Basic ${who}\r\n`;
  return `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`;
}

/** A silent name server may answer the next time, so its status is one of those that pulls try again after. */
function statusOf(error: unknown): string {
  const reason = error instanceof NotReached ? error.reason : null;
  if (reason === 'private') return '403 Forbidden';
  return reason === 'silent' ? '504 Gateway Timeout' : '502 Bad Gateway';
}
