/** One client that has logged in: what it opens, within bounds, until it leaves or is made to. */
import type { Socket } from 'node:net';
import type { Connection } from 'ssh2';
import type { AgentProcesses, AgentTunnels, Log } from '../../control/ports.ts';
import { limits } from '../../model/limits.ts';
import { Forwards } from './forwards.ts';
import type { Guest } from './messages.ts';
import { serveSession } from './session.ts';
import { closeGaps, refusals, refuseChannel } from './ssh2-gaps.ts';

export interface ConnectionParts {
  connection: Connection;
  socket: Socket;
  guest: Guest;
  agent: AgentProcesses & AgentTunnels;
  log: Log;
}

/** Told when the connection has to end; `null` for no reason that the client need know. */
export type Farewell = (reason: string | null) => void;

/** To be called before the client is told that it is logged in. Returns how to end the connection. */
export function serveConnection(parts: ConnectionParts): Farewell {
  const { connection, socket, guest, agent, log } = parts;
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const channels = new Channels();
  const takeChannel = () => channels.take();
  const sessionParts = { connection, socket, agent, key: guest.key, env: guest.env, gone };
  const forwards = new Forwards({ connection, socket, agent, key: guest.key, gone, takeChannel, log });
  closeGaps(connection);

  connection.on('session', (accept, reject) => {
    const release = takeChannel();
    if (!release) {
      refuseChannel(connection, reject, refusals.resourceShortage, 'too many channels are open');
      return;
    }
    void serveSession(accept(), { ...sessionParts, refusal: guest.refusal }).finally(release);
  });
  connection.on('tcpip', (accept, reject, info) => {
    if (guest.refusal === null) void forwards.connect(accept, reject, info);
    else refuseChannel(connection, reject, refusals.connectFailed, guest.refusal);
  });
  connection.on('request', (accept, reject, name, info) => {
    if (name === 'tcpip-forward' && guest.refusal === null) {
      void forwards.listen(info).then((port) => (port === null ? reject?.() : accept?.(port)));
    } else if (name === 'cancel-tcpip-forward' && forwards.unlisten(info)) {
      accept?.();
    } else {
      reject?.();
    }
  });
  return (reason) => {
    if (reason !== null) log.info('an SSH connection is ended', { token: guest.tokenId, reason });
    connection.end();
    // A client that does not read its last words must not keep what it runs.
    setTimeout(() => socket.destroy(), limits.ssh.farewellMs).unref();
  };
}

class Channels {
  #open = 0;

  take(): (() => void) | null {
    if (this.#open >= limits.ssh.channelsPerConnection) return null;
    this.#open++;
    let held = true;
    return () => {
      if (held) this.#open--;
      held = false;
    };
  }
}
