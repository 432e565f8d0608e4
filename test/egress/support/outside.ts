/**
 * The internet: servers that answer on every address routed there, and note what they got; and the resolver that the egress
 * program asks. Run by drive.ts in the outside's network namespace.
 */
import { createSocket } from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { obey } from './driver.ts';
import { encodeName, nameEnd, numbers, readName, types } from './messages.ts';

interface Zone {
  addresses?: string[];
  ttl?: number;
  /** Names between the asked one and the addresses. */
  aliases?: string[];
  code?: number;
  /** Over UDP the answer is cut. */
  isCut?: boolean;
  /** Addresses of names that nobody asked for. */
  others?: { name: string; address: string }[];
}

const zones = new Map<string, Zone>();
const asked: string[] = [];
/** The same questions, as they came. */
const questions: string[] = [];
const seen: { address: string; port: number; text: string }[] = [];

function note(socket: Socket, port: number): void {
  const entry = { address: socket.localAddress ?? '', port, text: '' };
  seen.push(entry);
  socket.on('data', (chunk) => {
    if (entry.text.length < 1 << 16) entry.text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
}

/** Sends back what it gets, and its end. */
function echo(port: number): void {
  createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    note(socket, port);
    socket.pipe(socket);
  }).listen(port, '0.0.0.0');
}

/** Speaks first, then goes on for ever. */
createServer((socket) => {
  note(socket, 22);
  socket.write('SSH-2.0-test\r\n');
}).listen(22, '0.0.0.0');

createServer((socket) => {
  note(socket, 9000);
  const piece = Buffer.alloc(1 << 20);
  const send = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.once('data', send);
  socket.on('drain', send);
}).listen(9000, '0.0.0.0');

function web(port: number): void {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = `${request.method} ${request.headers.host}${request.url} `;
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => response.end(body));
    // The gate cuts off what is malformed.
    request.on('error', () => {});
    if (request.url === '/away') response.writeHead(302, { location: 'http://evil.test/' });
  });
  server.on('upgrade', (request, socket: Socket) => {
    if (request.url === '/plain') {
      // It does not switch, and would serve a next request.
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno');
      return;
    }
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi');
    socket.pipe(socket);
  });
  server.on('connection', (socket) => note(socket, port));
  server.listen(port, '0.0.0.0');
}

for (const port of [443, 8443, 5000]) echo(port);
for (const port of [80, 8080]) web(port);

const resolver = createSocket('udp4');
resolver.on('message', (message, peer) => {
  // What is no question may come here, where a test lets it through.
  if (nameEnd(message, 12) + 4 > message.length) return;
  resolver.send(answer(message, true), peer.port, peer.address);
});
resolver.bind(53, '203.0.113.53');
createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (framed) => {
    const whole = answer(framed.subarray(2), false);
    socket.write(Buffer.concat([numbers(whole.length), whole]));
  });
}).listen(53, '203.0.113.53');

function answer(message: Buffer, isUdp: boolean): Buffer {
  const end = nameEnd(message, 12);
  const name = readName(message, 12);
  asked.push(`${name} ${message.readUInt16BE(end)}`);
  questions.push(message.toString('latin1'));
  const zone = zones.get(name.toLowerCase()) ?? { code: 3 };
  const { addresses = [], aliases = [], ttl = 300, code = 0, isCut = false, others = [] } = zone;
  const names = [name, ...aliases];
  const records = [
    ...aliases.map((alias, at) => resource(names[at] ?? '', types.CNAME, ttl, encodeName(alias))),
    ...addresses.map((one) => resource(names.at(-1) ?? '', types.A, ttl, bytesOf(one))),
    ...others.map(({ name: other, address }) => resource(other, types.A, ttl, bytesOf(address))),
  ];
  const given = isCut && isUdp ? [] : records;
  const flags = 0x8180 | code | (isCut && isUdp ? 0x0200 : 0);
  const head = numbers(message.readUInt16BE(0), flags, 1, given.length, 0, 0);
  return Buffer.concat([head, message.subarray(12, end + 4), ...given]);
}

const bytesOf = (address: string) => Buffer.from(address.split('.').map(Number));

function resource(name: string, type: number, ttl: number, data: Buffer): Buffer {
  return Buffer.concat([encodeName(name), numbers(type, 1, ttl >>> 16, ttl & 0xffff, data.length), data]);
}

obey({
  zone: (one: Zone & { name: string }) => void zones.set(one.name, one),
  asked: () => asked.splice(0),
  questions: () => questions.splice(0),
  seen: () => seen.splice(0),
  tls: ({ port, key, cert }: { port: number; key: string; cert: string }) =>
    new Promise<void>((resolve) => {
      createTlsServer({ key, cert, allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(
        port,
        '0.0.0.0',
        resolve,
      );
    }),
});
