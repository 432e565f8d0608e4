/**
 * Listening sockets that the service manager keeps while the service restarts (systemd, FileDescriptorStoreMax=).
 * Connections wait in them meanwhile, where the kernel would refuse them without a listener.
 *
 * A socket is named for its flag and address, so one that the configuration no longer has stays unused.
 */
import { closeSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { limits } from '../../model/limits.ts';

interface Address {
  host: string;
  port: number;
}

export interface KeptSocket {
  name: string;
  file: number;
}

/** First file that a manager hands over. */
const FIRST_FILE = 3;
/** As `nameOf` gives them. */
const OWN_NAME = /^[a-z-]*listen-.+%3A\d+$/;

export class KeptSockets {
  readonly #given: Map<string, number>;
  readonly #opened: KeptSocket[] = [];

  /** @param given Of the process before, by name. */
  constructor(given: ReadonlyMap<string, number>) {
    this.#given = new Map(given);
  }

  has(flag: string, address: Address): boolean {
    return this.#given.has(nameOf(flag, address));
  }

  /** Returns what Node listens at: the address, or the socket that listens there already. */
  at<A extends Address>(flag: string, address: A): A & { fd?: number } {
    const name = nameOf(flag, address);
    const fd = this.#given.get(name);
    this.#given.delete(name);
    return fd === undefined ? address : { ...address, fd };
  }

  /** Notes an open listener, unless its port is another than the chosen one. */
  opened(flag: string, address: Address, server: Server): void {
    const handle = handleOf(server);
    // Node listens with its own backlog where it gets a socket.
    handle.listen(limits.listenBacklog);
    if ((server.address() as AddressInfo).port !== address.port) return;
    this.#opened.push({ name: nameOf(flag, address), file: handle.fd });
  }

  /** Closes the sockets that no listener has taken. The manager has copies of them. */
  settle(): { keep: readonly KeptSocket[]; forget: string[] } {
    const forget = [...this.#given.keys()];
    for (const file of this.#given.values()) closeSync(file);
    this.#given.clear();
    return { keep: this.#opened, forget };
  }
}

/** Returns the sockets that the environment names, as sd_listen_fds(3) has it, without those that this service has not opened. */
export function socketsGiven(env: Record<string, string | undefined>): Map<string, number> {
  const { LISTEN_PID: pid, LISTEN_FDS: count, LISTEN_FDNAMES: names = '' } = env;
  if (Number(pid) !== process.pid) return new Map();
  const named = names.split(':').slice(0, Math.max(0, Number(count)));
  const files = named.map((name, at) => [name, FIRST_FILE + at] as const);
  return new Map(files.filter(([name]) => OWN_NAME.test(name)));
}

/** The manager takes no colon in a name. */
function nameOf(flag: string, { host, port }: Address): string {
  return `${flag.replace(/^--/, '')}-${encodeURIComponent(`${host}:${port}`)}`;
}

/** Node has no other way to a socket that it listens on. */
function handleOf(server: Server): { fd: number; listen(backlog: number): number } {
  return (server as unknown as { _handle: { fd: number; listen(backlog: number): number } })._handle;
}
