/**
 * Memory of the host that the sockets of a machine hold and the kernel does not count as the machine's: messages in
 * netlink queues, and connections that nobody has accepted, with their data.
 */
import { readFile } from 'node:fs/promises';
import { KiB } from '../../../model/limits/units.ts';
import { limits } from '../../../model/limits.ts';
import { eachLine, unlessEnded } from './listing.ts';

/** As `…/net/sockstat` tells it. */
export interface SocketCounts {
  /** Of every kind, those of nobody included. */
  used: number;
  /** Returns the memory of TCP in the whole host, exactly. */
  tcpBytes: number;
}

const { connectionBytes, listingBytes, uncountedBytes } = limits.kernel;
const PAGE_BYTES = 4 * KiB;
/** Buffer that little data can hold before a first read lets the buffers grow. */
const UNREAD_BYTES = 128 * KiB;
/** Of a connection that is over, the kernel keeps a note of 256 bytes and bounds their number by itself. */
const TIME_WAIT = '06';

export function parseSocketCounts(text: string): SocketCounts {
  const [, used = '0'] = /^sockets: used (\d+)/m.exec(text) ?? [];
  const [, pages = '0'] = /^TCP: .*mem (\d+)/m.exec(text) ?? [];
  return { used: Number(used), tcpBytes: Number(pages) * PAGE_BYTES };
}

/** Returns the memory of TCP in the whole host. */
export async function hostTcpBytes(): Promise<number> {
  return parseSocketCounts(await readFile('/proc/net/sockstat', 'utf8')).tcpBytes;
}

/** null when the process has ended. */
export async function socketCounts(pid: number): Promise<SocketCounts | null> {
  const text = await unlessEnded(readFile(`/proc/${pid}/net/sockstat`, 'utf8'));
  return text === null ? null : parseSocketCounts(text);
}

/** Bytes in queues of netlink sockets, by the network namespace of a process; of more than one machine may have, that it is more. */
export async function netlinkBytes(pid: number): Promise<number> {
  let bytes = 0;
  await eachLine(
    `/proc/${pid}/net/netlink`,
    listingBytes,
    ([, , port, , queued]) => {
      // The kernel's own end has no port; the heading no numbers.
      if (port !== '0' && Number.isInteger(Number(queued))) bytes += connectionBytes + Number(queued);
    },
    () => bytes > uncountedBytes,
  );
  return bytes;
}

/**
 * Bytes of connections that no process has yet, at most; those of a process are charged to it. Of more than one machine
 * may have, that it is more.
 * @param used Sockets of the machine. The tables are read up to a bound only, and begin with what the machine chooses:
 *   what is not seen may be a connection that nobody accepted.
 */
export async function unacceptedBytes(pid: number, used: number): Promise<number> {
  const tables = { bytes: 0, seen: 0, areCut: false };
  for (const table of ['tcp', 'tcp6']) {
    const isWhole = await eachLine(
      `/proc/${pid}/net/${table}`,
      listingBytes,
      (fields) => {
        tables.seen += 1;
        tables.bytes += bytesOfConnection(fields);
      },
      () => tables.bytes > uncountedBytes,
    );
    tables.areCut ||= !isWhole;
  }
  const unseen = tables.areCut ? Math.max(0, used - tables.seen) : 0;
  return tables.bytes + unseen * connectionBytes;
}

/** @param fields Of a row of /proc/net/tcp. */
export function bytesOfConnection([, , , state, queues = '', , , , , inode]: string[]): number {
  if (inode !== '0' || state === TIME_WAIT) return 0;
  const unread = Number.parseInt(queues.split(':')[1] ?? '0', 16);
  return connectionBytes + (unread > 0 ? Math.max(unread, UNREAD_BYTES) : 0);
}
