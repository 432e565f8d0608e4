/**
 * DNS server of one instance's machines, bound to their gateway address alone. It forwards queries to the host's
 * resolvers and returns no answer with a private address, so that no name leads a machine, or a program that
 * trusts its answers, to an address the firewall forbids. There is no IPv6: AAAA has an empty answer.
 */
import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import { SandhavenError } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { isPublicIPv4, isPublicIPv6 } from '../../../../model/network/public-addresses.ts';
import { type Answer, emptyAnswer, encodeAnswer, udpLimit } from './answer.ts';
import { DnsShares, encodeRefusal, parseQuery, type Question } from './query.ts';
import { createUpstream, type Upstream } from './upstream.ts';
import { frame, readFrames, recordTypes, responseCodes } from './wire.ts';

const port = 53;
const maxTcpAnswerBytes = 65_535;
const bounds = limits.network;

export interface DnsForwarder {
  close(): Promise<void>;
}

export interface DnsForwarderOptions {
  /** Address to listen on. */
  gateway: string;
  /** Returns true for addresses of this instance's machines; all others get no answer. */
  isMachine(address: string): boolean;
  /** Returns the owner of the machine with this address; machines of one owner have one share together. */
  ownerOf(address: string): string;
  resolvConfPath: string;
}

/** @throws `unavailable` when another program has the port: some server listens on every address of the host. */
export async function startDnsForwarder(options: DnsForwarderOptions): Promise<DnsForwarder> {
  const desk = createDesk(createUpstream(options.resolvConfPath, options.gateway), options.ownerOf);
  const closeUdp = await listenUdp(options, desk).catch(portTaken);
  const closeTcp = await listenTcp(options, desk).catch(async (error) => {
    await closeUdp();
    return portTaken(error);
  });
  return {
    async close() {
      desk.close();
      await Promise.all([closeUdp(), closeTcp()]);
    },
  };
}

/** Answers one query of one machine; `answer` returns null when too many of it wait already. */
interface Desk {
  answer(address: string, asked: Question, whole: boolean): Promise<Answer> | null;
  shares: DnsShares;
  close(): void;
}

function createDesk(upstream: Upstream, ownerOf: DnsForwarderOptions['ownerOf']): Desk {
  const closing = new AbortController();
  const shares = new DnsShares(ownerOf);
  return {
    shares,
    answer(address, asked, whole) {
      if (asked.type === recordTypes.AAAA) return Promise.resolve(emptyAnswer(responseCodes.ok));
      const evicted = new AbortController();
      const leave = shares.waiting.enter(address, () => evicted.abort());
      if (!leave) return null;
      return upstream
        .ask(asked.question, whole, AbortSignal.any([closing.signal, evicted.signal]))
        .then(withoutPrivate, () => emptyAnswer(responseCodes.failed))
        .finally(leave);
    },
    close: () => closing.abort(),
  };
}

/** Rejects an answer with any private address among many: a client would try them all. */
function withoutPrivate(answer: Answer): Answer {
  const allowed = answer.ipv4.every(isPublicIPv4) && answer.ipv6.every(isPublicIPv6);
  return allowed ? answer : emptyAnswer(responseCodes.noSuchName);
}

function listenUdp({ gateway, isMachine }: DnsForwarderOptions, desk: Desk): Promise<() => Promise<void>> {
  const socket = createSocket('udp4');
  let open = true;
  const close = () =>
    new Promise<void>((resolve) => {
      open = false;
      socket.close(() => resolve());
    });
  socket.on('message', (message, sender) => {
    if (!isMachine(sender.address) || message.length > bounds.dnsQueryBytes) return;
    if (desk.shares.query(sender.address) > 0) return;
    // The machine may be gone by the time its answer is ready.
    const reply = (bytes: Buffer) => open && socket.send(bytes, sender.port, sender.address, () => {});
    const asked = parseQuery(message);
    if (asked === null) return;
    if ('refusal' in asked) {
      reply(encodeRefusal(asked));
      return;
    }
    const limit = udpLimit(asked, bounds.dnsUdpBytes);
    void desk
      .answer(sender.address, asked, false)
      ?.then((answer) => reply(encodeAnswer(asked, answer, limit)));
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: gateway, port }, () => {
      socket.removeAllListeners('error').on('error', () => {});
      resolve(close);
    });
  });
}

function listenTcp({ gateway, isMachine }: DnsForwarderOptions, desk: Desk): Promise<() => Promise<void>> {
  const connections = new Set<Socket>();
  const { shares } = desk;
  const server = createServer((socket) => {
    const address = socket.remoteAddress ?? '';
    socket.on('error', () => {});
    const leave = isMachine(address) ? shares.connections.enter(address, () => socket.destroy()) : null;
    // Each connection counts as a query.
    if (!leave || shares.query(address) > 0) {
      leave?.();
      socket.destroy();
      return;
    }
    connections.add(socket);
    socket.on('close', () => {
      connections.delete(socket);
      leave();
    });
    socket.setTimeout(bounds.dnsIdleMs, () => socket.destroy());
    const take = (message: Buffer) => answerTcp(socket, address, message, desk);
    readFrames(socket, bounds.dnsQueryBytes, take, () => shares.query(address));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of connections) socket.destroy();
    });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: gateway, port }, () => {
      server.removeAllListeners('error').on('error', () => {});
      resolve(close);
    });
  });
}

function answerTcp(socket: Socket, address: string, message: Buffer, desk: Desk): void {
  const asked = parseQuery(message);
  if (asked === null) {
    socket.destroy();
    return;
  }
  const reply = (bytes: Buffer) => {
    // A machine that sends queries and does not read answers gets no more of our memory.
    if (socket.writableLength > 2 * maxTcpAnswerBytes) socket.destroy();
    else if (!socket.destroyed) socket.write(frame(bytes));
  };
  if ('refusal' in asked) {
    reply(encodeRefusal(asked));
    return;
  }
  void desk
    .answer(address, asked, true)
    ?.then((answer) => reply(encodeAnswer(asked, answer, maxTcpAnswerBytes)));
}

function portTaken(error: unknown): never {
  throw new SandhavenError(
    'unavailable',
    'The DNS port of the sandboxes is taken by another program.',
    {
      hint: 'Bind the DNS server of this host to its own addresses only (dnsmasq: bind-interfaces), then start again.',
    },
    error,
  );
}
