/**
 * The sandboxes' side: connections from any of their addresses, and questions to the resolver. Run by drive.ts in their
 * network namespace.
 */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { obey } from './driver.ts';

interface Held {
  socket: Socket;
  /** The first bytes that came. */
  head: Buffer;
  bytes: number;
  ended: 'open' | 'end' | 'reset';
  over: Promise<void>;
}

const KEPT = 1 << 16;
const held = new Map<number, Held>();
let last = 0;

async function open({ from, host, port }: { from: string; host: string; port: number }): Promise<number> {
  const socket = connectTcp({ host, port, localAddress: from, allowHalfOpen: true, noDelay: true });
  let finish = () => {};
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const one: Held = { socket, head: Buffer.alloc(0), bytes: 0, ended: 'open', over };
  socket.on('data', (chunk) => {
    if (one.head.length < KEPT)
      one.head = Buffer.concat([one.head, chunk.subarray(0, KEPT - one.head.length)]);
    one.bytes += chunk.length;
  });
  const end = (how: Held['ended']) => () => {
    if (one.ended === 'open') one.ended = how;
    finish();
  };
  socket.on('end', end('end'));
  socket.on('error', end('reset'));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    // A connection may be reset before its opening is noticed here.
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve() : reject(error),
    );
  });
  held.set(++last, one);
  return last;
}

function of({ id }: { id: number }): Held {
  const one = held.get(id);
  if (!one) throw new Error('no such connection');
  return one;
}

const state = ({ head, bytes, ended }: Held) => ({ head: head.toString('base64'), bytes, ended });

/** Sends a number of bytes, by a rule that both ends know, and its end; hashes both directions. */
async function stream({ from, host, port, first, bytes, tls }: Stream): Promise<object> {
  const plain = connectTcp({ host, port, localAddress: from, allowHalfOpen: true });
  const socket =
    tls === undefined
      ? plain
      : connectTls({
          socket: plain,
          servername: tls,
          rejectUnauthorized: false,
          allowHalfOpen: true,
        } as object);
  await once(socket, tls === undefined ? 'connect' : 'secureConnect');
  const [sent, received] = [createHash('sha256'), createHash('sha256')];
  let count = 0;
  socket.on('data', (chunk: Buffer) => {
    received.update(chunk);
    count += chunk.length;
  });
  const ended = once(socket, 'end');
  const write = async (chunk: Buffer) => {
    sent.update(chunk);
    if (!socket.write(chunk)) await once(socket, 'drain');
  };
  const start = performance.now();
  if (first !== undefined) await write(Buffer.from(first, 'base64'));
  const piece = Buffer.alloc(1 << 16);
  for (let at = 0; at < bytes; at += piece.length) {
    piece.writeUInt32BE(at, 0);
    await write(piece.subarray(0, Math.min(piece.length, bytes - at)));
  }
  socket.end();
  await ended;
  return { sent: sent.digest('hex'), received: received.digest('hex'), count, ms: performance.now() - start };
}

interface Stream {
  from: string;
  host: string;
  port: number;
  first?: string;
  bytes: number;
  tls?: string;
}

async function askUdp({ from, host, message, timeoutMs }: Ask): Promise<string | null> {
  const socket = createSocket('udp4');
  socket.bind(0, from);
  await once(socket, 'listening');
  socket.send(Buffer.from(message, 'base64'), 53, host);
  const answer = await Promise.race([
    once(socket, 'message').then(([bytes]) => bytes.toString('base64')),
    new Promise<null>((resolve) => setTimeout(resolve, timeoutMs, null)),
  ]);
  socket.close();
  return answer;
}

interface Ask {
  from: string;
  host: string;
  message: string;
  timeoutMs: number;
}

/** Opens connections that send nothing. Returns how many are still open after a while. */
async function flood({
  from,
  host,
  port,
  count,
}: {
  from: string;
  host: string;
  port: number;
  count: number;
}) {
  const ids = await Promise.all(
    Array.from({ length: count }, () => open({ from, host, port }).catch(() => 0)),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  return { ids, open: ids.filter((id) => held.get(id)?.ended === 'open').length };
}

obey({
  open,
  write: ({ id, bytes }: { id: number; bytes: string }) =>
    void of({ id }).socket.write(Buffer.from(bytes, 'base64')),
  end: ({ id }: { id: number }) => void of({ id }).socket.end(),
  destroy: ({ ids }: { ids: number[] }) => {
    for (const id of ids) held.get(id)?.socket.destroy();
  },
  state: (one: { id: number }) => state(of(one)),
  over: async ({ id, timeoutMs }: { id: number; timeoutMs: number }) => {
    const one = of({ id });
    await Promise.race([one.over, new Promise((resolve) => setTimeout(resolve, timeoutMs))]);
    return state(one);
  },
  stream,
  askUdp,
  flood,
});
