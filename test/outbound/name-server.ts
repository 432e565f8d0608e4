/** A DNS server on this host's loopback, over UDP, with the names that a test gives it. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Addresses behind an alias, if one is given; or a code of failure. A name without any is there, and has no address. */
export interface Zone {
  a?: string[];
  aaaa?: string[];
  alias?: string;
  code?: number;
}

export interface NameServer {
  /** `address:port`, as resolvers take it. */
  at: string;
  /** Names in the order of their questions, each once for each kind of address. */
  asked: string[];
  close(): Promise<void>;
}

const A = 1;
const CNAME = 5;
const AAAA = 28;
const NO_SUCH_NAME = 3;

/** @param find Returns null for a name that is not there, and undefined for silence. */
export async function startNameServer(
  find: (name: string) => Zone | null | undefined,
  { address = '127.0.0.1', port = 0 } = {},
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, sender) => {
    const { name, type, end } = questionIn(message);
    asked.push(name);
    const zone = find(name);
    if (zone !== undefined)
      socket.send(answer(message.subarray(0, end), type, zone), sender.port, sender.address);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return {
    at: `${address}:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionIn(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, type: number, zone: Zone | null): Buffer {
  const { a = [], aaaa = [], alias, code = 0 } = zone ?? { code: NO_SUCH_NAME };
  const data = type === A ? a.map(bytesOf) : type === AAAA ? aaaa.map(bytesOf) : [];
  const target = alias === undefined ? null : encoded(alias);
  // A pointer to the asked name, which is at byte 12; the alias follows the whole question.
  const owner = target ? pointer(question.length + 12) : pointer(12);
  const records = [
    ...(target ? [record(pointer(12), CNAME, target)] : []),
    ...data.map((bytes) => record(owner, type, bytes)),
  ];
  const whole = Buffer.concat([question, ...records]);
  whole.writeUInt16BE(0x8180 | code, 2);
  whole.writeUInt16BE(1, 4);
  whole.writeUInt16BE(records.length, 6);
  whole.writeUInt32BE(0, 8);
  return whole;
}

const pointer = (to: number) => Buffer.from([0xc0 | (to >> 8), to & 0xff]);

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const rest = Buffer.from([0, type, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 0xff]);
  return Buffer.concat([owner, rest, data]);
}

function encoded(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** Of an IPv4 address, or of an IPv6 address without `::`. */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    address
      .split(':')
      .map((word) => word.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
