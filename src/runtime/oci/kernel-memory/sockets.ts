/**
 * What the sockets of a machine hold of the host's memory without its being counted as the machine's: messages in
 * netlink queues, and connections that nobody has accepted, with what was sent on them.
 */
import { readFile } from 'node:fs/promises';
import { KiB } from '../../../model/limits/units.ts';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../files.ts';
import { eachLine } from './listing.ts';

/** As `…/net/sockstat` tells it. `tcpBytes` is of the whole host, and exact. */
export interface SocketCounts {
  used: number;
  tcp: number;
  tcpBytes: number;
}

const PAGE_BYTES = 4 * KiB;
/** What little data can hold of buffers, before a first read lets the buffers grow. */
const UNREAD_BYTES = 128 * KiB;
/** Of a connection that is over, the kernel keeps a note of 256 bytes and bounds their number by itself. */
const TIME_WAIT = '06';

export function parseSocketCounts(text: string): SocketCounts {
  const [, used = '0'] = /^sockets: used (\d+)/m.exec(text) ?? [];
  const [, tcp = '0', pages = '0'] = /^TCP: inuse (\d+) .*mem (\d+)/m.exec(text) ?? [];
  return { used: Number(used), tcp: Number(tcp), tcpBytes: Number(pages) * PAGE_BYTES };
}

/** null when the process has ended. */
export async function socketCounts(pid: number): Promise<SocketCounts | null> {
  const text = await unlessMissing(readFile(`/proc/${pid}/net/sockstat`, 'utf8').catch(gone));
  return text === null ? null : parseSocketCounts(text);
}

/** Bytes in queues of netlink sockets, by the network namespace of a process. */
export async function netlinkBytes(pid: number): Promise<number> {
  let bytes = 0;
  await eachLine(`/proc/${pid}/net/netlink`, limits.kernel.listingBytes, ([, , port, , queued]) => {
    // The kernel's own end has no port; the heading no numbers.
    if (port !== '0' && Number.isInteger(Number(queued)))
      bytes += limits.kernel.connectionBytes + Number(queued);
  });
  return bytes;
}

/** Bytes of connections that no process has yet, at most; those of a process are charged to it. */
export async function unacceptedBytes(pid: number): Promise<number> {
  let bytes = 0;
  for (const table of ['tcp', 'tcp6']) {
    await eachLine(`/proc/${pid}/net/${table}`, limits.kernel.listingBytes, (fields) => {
      bytes += bytesOfConnection(fields);
    });
  }
  return bytes;
}

/** @param fields Of a row of /proc/net/tcp. */
export function bytesOfConnection([, , , state, queues = '', , , , , inode]: string[]): number {
  if (inode !== '0' || state === TIME_WAIT) return 0;
  const unread = Number.parseInt(queues.split(':')[1] ?? '0', 16);
  return limits.kernel.connectionBytes + (unread > 0 ? Math.max(unread, UNREAD_BYTES) : 0);
}

function gone(error: NodeJS.ErrnoException): never | null {
  if (error.code === 'ESRCH' || error.code === 'EINVAL') return null;
  throw error;
}
