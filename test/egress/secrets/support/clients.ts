/** Clients of TLS in sandboxes, which trust what they are given. Run by drive.ts in the sandboxes' network namespace. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { Agent, request as requestHttps } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { obey } from '../../support/driver.ts';

export interface To {
  from: string;
  /** Address of the server. */
  to: string;
  port: number;
  servername: string;
  /** Authority that the client trusts. */
  ca: string;
}

export interface Asked {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
  /** Megabytes of a body, instead of a text. */
  megabytes?: number;
}

export interface Got {
  status: number;
  headers: Record<string, string | string[]>;
  /** The first of it. */
  body: string;
  bytes: number;
  trailers: Record<string, string>;
  /** Number of pieces that it came in. */
  pieces: number;
}

interface Held {
  ask(asked: Asked): Promise<Got>;
  end(): void;
}

const KEPT = 1 << 16;
const held = new Map<number, Held>();
let last = 0;

function secure({ from, to, port, servername, ca }: To, protocols: string[], more: object = {}): TLSSocket {
  const socket = connectTls({
    ...{ host: to, port, localAddress: from, servername, ca, ALPNProtocols: protocols, ...more },
  } as object);
  socket.on('error', () => {});
  return socket;
}

function collect(stream: NodeJS.EventEmitter): Promise<Pick<Got, 'body' | 'bytes' | 'pieces'>> {
  let [body, bytes, pieces] = [Buffer.alloc(0), 0, 0];
  stream.on('data', (data: Buffer) => {
    if (body.length < KEPT) body = Buffer.concat([body, data]);
    bytes += data.length;
    pieces++;
  });
  return new Promise((resolve, reject) => {
    stream.on('end', () => resolve({ body: body.toString('latin1'), bytes, pieces }));
    stream.on('error', reject);
    stream.on('aborted', () => reject(new Error('the response broke off')));
  });
}

async function send(stream: NodeJS.WritableStream, { body, megabytes }: Asked): Promise<void> {
  const piece = Buffer.alloc(1 << 20, 'z');
  for (let sent = 0; sent < (megabytes ?? 0); sent++) {
    if (!stream.write(piece)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
  }
  if (body === undefined) stream.end();
  else stream.end(body);
}

function overHttp1(to: To): Held {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (asked: Asked) =>
    new Promise<Got>((resolve, reject) => {
      const { method = 'GET', path = '/', headers = {} } = asked;
      const request = requestHttps({
        ...{ host: to.to, port: to.port, localAddress: to.from, servername: to.servername, ca: to.ca, agent },
        ...{ method, path, headers: { host: `${to.servername}:${to.port}`, ...headers } },
      });
      request.on('error', reject);
      request.on('response', async (response) => {
        try {
          const read = await collect(response);
          const { statusCode: status = 0, trailers } = response;
          resolve({
            status,
            headers: response.headers as Got['headers'],
            trailers: trailers as Got['trailers'],
            ...read,
          });
        } catch (error) {
          reject(error);
        }
      });
      void send(request, asked);
    });
  return { ask, end: () => agent.destroy() };
}

function overHttp2(to: To): Held {
  const session: ClientHttp2Session = connectHttp2(`https://${to.servername}:${to.port}`, {
    createConnection: () => secure(to, ['h2']),
  });
  session.on('error', () => {});
  const ask = async (asked: Asked): Promise<Got> => {
    const { method = 'GET', path = '/', headers = {} } = asked;
    const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: false });
    let trailers = {};
    stream.on('trailers', (given) => {
      trailers = given;
    });
    const responded = once(stream, 'response');
    void send(stream, asked);
    const [given] = await responded;
    const read = await collect(stream);
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Error(`reset ${stream.rstCode}`);
    return { status: given[':status'], headers: { ...given }, trailers: { ...trailers }, ...read };
  };
  return { ask, end: () => session.destroy() };
}

/** Sends bytes inside TLS; returns what came until the end, or until nothing came for a while. */
async function raw({ bytes, quietMs = 1_000, ...to }: To & { bytes: string; quietMs?: number }) {
  const socket = secure(to, ['http/1.1']);
  let [text, ended] = ['', 'open'];
  const over = new Promise<void>((resolve) => {
    const finish = (how: string) => {
      if (ended === 'open') ended = how;
      resolve();
    };
    let timer = setTimeout(finish, 10 * quietMs, 'open');
    socket.on('data', (data) => {
      text += data.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(finish, quietMs, 'open');
    });
    socket.on('end', () => finish('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    socket.once('secureConnect', () => socket.write(Buffer.from(bytes, 'latin1')));
  });
  await over;
  socket.destroy();
  return { text, ended };
}

/** Only shakes hands. */
async function shake({ more, protocols, ...to }: To & { more?: object; protocols?: string[] }) {
  const socket = secure(to, protocols ?? ['h2', 'http/1.1'], more);
  const failed = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('end', () => resolve('end'));
  });
  let session = '';
  socket.on('session', (given: Buffer) => {
    session = given.toString('base64');
  });
  const done = once(socket, 'secureConnect').then(() => null);
  const error = await Promise.race([done, failed]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const shaken = {
    error,
    protocol: socket.alpnProtocol,
    session,
    reused: socket.isSessionReused(),
    certificate: error === null ? socket.getPeerCertificate().raw.toString('base64') : '',
  };
  socket.destroy();
  return shaken;
}

const of = (id: number): Held => {
  const one = held.get(id);
  if (!one) throw new Error('no such client');
  return one;
};

obey({
  open: ({ protocol, ...to }: To & { protocol: 'h1' | 'h2' }) => {
    held.set(++last, protocol === 'h1' ? overHttp1(to) : overHttp2(to));
    return last;
  },
  ask: async ({ id, asked }: { id: number; asked: Asked }) => of(id).ask(asked),
  close: ({ id }: { id: number }) => {
    of(id).end();
    held.delete(id);
  },
  raw,
  shake,
  /** Asks for a body without end, and never reads it. */
  stall: async ({ count, path, ...to }: To & { count: number; path: string }) => {
    const sockets = Array.from({ length: count }, () => secure(to, ['http/1.1']));
    await Promise.all(
      sockets.map(async (socket) => {
        await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${to.servername}:${to.port}\r\n\r\n`);
        socket.pause();
      }),
    );
    return sockets.filter((socket) => !socket.destroyed).length;
  },
  hash: ({ megabytes }: { megabytes: number }) => {
    const sum = createHash('sha256');
    for (let at = 0; at < megabytes; at++) sum.update(Buffer.alloc(1 << 20, 'z'));
    return sum.digest('hex');
  },
});
