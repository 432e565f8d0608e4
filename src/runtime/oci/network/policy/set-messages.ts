/**
 * Changes of a set of addresses, or of addresses with ports, as messages for the kernel (nfnetlink, linux/netfilter/nf_tables.h), for the one change that
 * every creation of a sandbox makes: starting nft for it takes longer than all else of the change.
 */
import { endianness } from 'node:os';

export interface SetChange {
  table: string;
  set: string;
  address: string;
  /** In a set of addresses with ports. */
  port?: number;
  kind: 'add' | 'delete';
}

const NETFILTER_TABLES = 10;
const types = {
  begin: 0x10,
  end: 0x11,
  add: (NETFILTER_TABLES << 8) | 12,
  delete: (NETFILTER_TABLES << 8) | 14,
};
const flags = { request: 0x1, acknowledge: 0x4, create: 0x400 };
const attributes = { table: 1, set: 2, elements: 3, element: 1, key: 1, value: 1 };
const NESTED = 0x8000;
const FAMILY_INET = 1;
const HEADER_BYTES = 16;
const isLittle = endianness() === 'LE';

/** Returns one transaction: all changes, or none when the kernel refuses one. */
export function setBatch(changes: SetChange[]): Buffer {
  const bodies = changes.map((change) =>
    Buffer.concat([
      general(FAMILY_INET, 0),
      attribute(attributes.table, Buffer.from(`${change.table}\0`)),
      attribute(attributes.set, Buffer.from(`${change.set}\0`)),
      attribute(attributes.elements | NESTED, element(change)),
    ]),
  );
  return Buffer.concat([
    message(types.begin, flags.request, 0, general(0, NETFILTER_TABLES)),
    ...changes.map(({ kind }, i) =>
      message(
        types[kind],
        flags.request | flags.acknowledge | (kind === 'add' ? flags.create : 0),
        i + 1,
        bodies[i] ?? Buffer.alloc(0),
      ),
    ),
    message(types.end, flags.request, changes.length + 1, general(0, NETFILTER_TABLES)),
  ]);
}

/** Each part of a key takes four bytes. */
function element({ address, port }: SetChange): Buffer {
  const parts = Buffer.from(address.split('.').map(Number));
  const ofPort = port === undefined ? [] : [Buffer.of(port >> 8, port & 0xff, 0, 0)];
  const value = attribute(attributes.value, Buffer.concat([parts, ...ofPort]));
  return attribute(attributes.element | NESTED, attribute(attributes.key | NESTED, value));
}

/** Numbers of messages have the order of the machine, the resource's alone that of networks. */
function message(type: number, flag: number, sequence: number, body: Buffer): Buffer {
  return Buffer.concat([u32(HEADER_BYTES + body.length), u16(type), u16(flag), u32(sequence), u32(0), body]);
}

function general(family: number, resource: number): Buffer {
  return Buffer.from([family, 0, resource >> 8, resource & 0xff]);
}

/** Lengths count no padding, which follows up to the next four bytes. */
function attribute(type: number, value: Buffer): Buffer {
  return Buffer.concat([u16(4 + value.length), u16(type), value, Buffer.alloc(-value.length & 3)]);
}

function u16(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  if (isLittle) bytes.writeUInt16LE(number);
  else bytes.writeUInt16BE(number);
  return bytes;
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (isLittle) bytes.writeUInt32LE(number);
  else bytes.writeUInt32BE(number);
  return bytes;
}
