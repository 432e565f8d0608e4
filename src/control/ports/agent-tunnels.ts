/** Connections to and from the own loopback of a machine. */
import type { Duplex } from 'node:stream';

export interface ListeningPort {
  port: number;
  /** The listening process; empty when it cannot be told. */
  name: string;
  /** As the sandbox counts; null when it cannot be told. */
  pid: number | null;
  /** What the process was started with, cut; null when it cannot be told. */
  command: string | null;
}

export interface Listener {
  /** The one it got, when 0 was asked for. */
  port: number;
  /** Resolves when it has ended, for whatever reason; connections that were taken go on. */
  ended: Promise<void>;
  close(): void;
}

export interface AgentTunnels {
  /**
   * To a port of the sandbox's own loopback, IPv4 or IPv6. Half-open connections are kept half-open. Fails with
   * `not_found` (resource `port`) when nothing listens there. With `host`, to a port of that host as the sandbox
   * itself would reach it, under the sandbox's own rules; `not_found` (resource `host`) when there is no such name.
   */
  connectPort(id: string, port: number, signal?: AbortSignal, host?: string): Promise<Duplex>;
  /**
   * Listens inside, on 127.0.0.1 unless `everywhere`, and hands over each connection that is made there.
   * Port 0 takes a free one. `already_exists` when the port is taken.
   */
  listenPort(
    id: string,
    request: { port: number; everywhere?: boolean },
    onConnection: (connection: Duplex) => void,
    signal?: AbortSignal,
  ): Promise<Listener>;
  /** What listens for TCP inside, by port, each port once. */
  ports(id: string, signal?: AbortSignal): Promise<ListeningPort[]>;
}
