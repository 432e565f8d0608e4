/** Serves one logged-in client: its channels, within limits, until it leaves or is ended. */
import type { Duplex } from 'node:stream';
import type { Connection } from 'ssh2';
import type { AgentProcesses, AgentTunnels } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Guest } from '../messages.ts';
import { Forwards } from './forwards.ts';
import { serveSession } from './session.ts';
import { closeGaps, disconnect, refusals, refuseChannel } from './ssh2-workarounds.ts';

export interface ConnectionDependencies {
  connection: Connection;
  /** Transport of the connection. */
  stream: Duplex;
  guest: Guest;
  agent: AgentProcesses & AgentTunnels;
}

export interface ServedConnection {
  /** Ends it; the reason is for the client. */
  end(reason: string): void;
  /** Resolves when the client is gone and its programs have ended. */
  over: Promise<void>;
}

/** Must be called before the client's login is confirmed. */
export function serveConnection(parts: ConnectionDependencies): ServedConnection {
  const { connection, stream, guest, agent } = parts;
  const gone = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  const channels = new Channels();
  const takeChannel = () => channels.take();
  const programs = new Set<Promise<void>>();
  const { key, user, env } = guest;
  const sessionParts = { connection, stream, agent, key, user, env, gone, programs };
  const forwards = new Forwards({ connection, stream, agent, key, gone, takeChannel });
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
  // A client that opens no channel would never see the refusal.
  const { refusal } = guest;
  if (refusal !== null) setTimeout(() => disconnect(connection, refusal), limits.lingerMs).unref();
  return {
    end(reason) {
      disconnect(connection, reason);
      // A client that does not read the reason must not keep its programs.
      setTimeout(() => stream.destroy(), limits.ssh.farewellMs).unref();
    },
    over: gone.then(() => Promise.allSettled(programs)).then(() => {}),
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
