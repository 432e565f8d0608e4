/** Connections to and from a machine's own loopback. */
import type { Duplex } from 'node:stream';

export interface ListeningPort {
  port: number;
  /** Name of the listening process; empty when unknown. */
  name: string;
  /** Process id inside the sandbox; null when unknown. */
  pid: number | null;
  /** Command line of the process, cut; null when unknown. */
  command: string | null;
}

export interface Listener {
  /** The port in use, when 0 was requested. */
  port: number;
  /** Resolves when the listener has ended, for any reason; accepted connections continue. */
  ended: Promise<void>;
  close(): void;
}

export interface AgentTunnels {
  /**
   * Connects to a port of the sandbox's own loopback, IPv4 or IPv6. Half-open connections stay half-open. Rejects with
   * `not_found` (resource `port`) when nothing listens there. With `host`, connects to a port of that host as the
   * sandbox itself would, under the sandbox's own rules; `not_found` (resource `host`) for an unknown name.
   */
  connectPort(id: string, port: number, signal?: AbortSignal, host?: string): Promise<Duplex>;
  /**
   * Listens inside, on 127.0.0.1 unless `everywhere`, and hands over each connection. Port 0 takes a free one. Rejects
   * with `already_exists` when the port is taken.
   */
  listenPort(
    id: string,
    request: { port: number; everywhere?: boolean },
    onConnection: (connection: Duplex) => void,
    signal?: AbortSignal,
  ): Promise<Listener>;
  /** Lists the TCP listeners inside, by port, each port once. */
  ports(id: string, signal?: AbortSignal): Promise<ListeningPort[]>;
}
