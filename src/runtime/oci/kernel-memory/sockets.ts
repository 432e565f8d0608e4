/**
 * Host memory that a machine's sockets hold without a charge to the machine: messages in netlink queues, and
 * unaccepted connections, with the data sent on them.
 */
import { KiB } from '../../../model/limits/units.ts';
import { limits } from '../../../model/limits.ts';
import { readNow } from '../host/files.ts';
import { eachLine } from './listing.ts';

/** Counts from `…/net/sockstat`. */
export interface SocketCounts {
  /** Sockets of every kind, including those without an owner. */
  used: number;
  /** Bytes that TCP holds in the whole host, exact. */
  tcpBytes: number;
}

const { connectionBytes, listingBytes, uncountedBytes } = limits.kernel;
const PAGE_BYTES = 4 * KiB;
/** Buffer bytes that little data can hold, before a first read lets the buffers grow. */
const UNREAD_BYTES = 128 * KiB;
/** State of an ended connection, of which the kernel keeps 256 bytes and bounds the number itself. */
const TIME_WAIT = '06';

export function parseSocketCounts(text: string): SocketCounts {
  const [, used = '0'] = /^sockets: used (\d+)/m.exec(text) ?? [];
  const [, pages = '0'] = /^TCP: .*mem (\d+)/m.exec(text) ?? [];
  return { used: Number(used), tcpBytes: Number(pages) * PAGE_BYTES };
}

/** Returns the bytes that TCP holds in the whole host. */
export function hostTcpBytes(): number {
  return parseSocketCounts(readNow('/proc/net/sockstat') ?? '').tcpBytes;
}

/** Returns null when the process has ended. */
export function socketCounts(pid: number): SocketCounts | null {
  const text = readNow(`/proc/${pid}/net/sockstat`);
  return text === null ? null : parseSocketCounts(text);
}

/** Bytes in netlink queues of a process's network namespace; above a machine's bound the total is incomplete. */
export async function netlinkBytes(pid: number): Promise<number> {
  let bytes = 0;
  await eachLine(
    `/proc/${pid}/net/netlink`,
    listingBytes,
    ([, , port, , queued]) => {
      // The kernel's own end has port 0; the heading has no numbers.
      if (port !== '0' && Number.isInteger(Number(queued))) bytes += connectionBytes + Number(queued);
    },
    () => bytes > uncountedBytes,
  );
  return bytes;
}

/**
 * Upper bound of the bytes of connections that no process has yet; those of a process are charged to it. Above a
 * machine's bound the total is incomplete.
 * @param used Sockets of the machine. The tables are read up to a limit only, and the machine chooses their first rows:
 *   each unseen socket may be an unaccepted connection.
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

/** @param fields Fields of a row of /proc/net/tcp. */
export function bytesOfConnection([, , , state, queues = '', , , , , inode]: string[]): number {
  if (inode !== '0' || state === TIME_WAIT) return 0;
  const unread = Number.parseInt(queues.split(':')[1] ?? '0', 16);
  return connectionBytes + (unread > 0 ? Math.max(unread, UNREAD_BYTES) : 0);
}
