/**
 * Connects to agents over the network, by TLS 1.3 with certificates on both sides. A channel is given out only after the
 * agent has proved that it is the one of that sandbox and generation. An agent refuses the service's certificate only after
 * that: the channel then ends before any answer.
 */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { growingPauses } from '../concurrency/patience.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type CertifiedKey, sandboxIdentity } from './authority.ts';
import { unavailable } from './replies.ts';

export interface AgentAddress {
  sandboxId: string;
  generation: number;
  /** An IP address. */
  host: string;
  port: number;
}

export interface AgentConnector {
  /**
   * Retries while the agent has no room, and while `starting` holds; fails with `unavailable` after
   * limits.agentConnectTimeoutMs, and at once for an agent with another or no valid certificate.
   */
  open(agent: AgentAddress, starting?: () => boolean): Promise<Duplex>;
}

const LONGEST_PAUSE_MS = 50;

const { handshakeMs, keepaliveMs } = limits.agentTls;

/** @param authority Certificate of the installation's authority, PEM. */
export function createConnector(authority: string, service: CertifiedKey): AgentConnector {
  const context = createSecureContext({
    ca: authority,
    cert: service.certificate,
    key: service.key,
    minVersion: 'TLSv1.3',
    // The other group of Node's defaults is one that agents do not have.
    ecdhCurve: 'X25519',
  });
  const sessions = new TlsSessions();
  return {
    async open(agent, starting = () => false) {
      const deadline = performance.now() + limits.agentConnectTimeoutMs;
      const pauses = growingPauses(LONGEST_PAUSE_MS);
      for (;;) {
        try {
          return await connectOnce(agent, context, sessions);
        } catch (error) {
          if (error instanceof SandhavenError) throw error;
          // An agent without room for strangers resets the oldest of them; nothing has been sent to it.
          const hopeful = (error as NodeJS.ErrnoException).code === 'ECONNRESET' || starting();
          if (!hopeful || performance.now() > deadline) throw unreachable(error);
        }
        await sleep(pauses.next().value);
      }
    },
  };
}

/** Rejects with a SandhavenError where another attempt makes no sense. */
function connectOnce(
  agent: AgentAddress,
  secureContext: SecureContext,
  sessions: TlsSessions,
): Promise<TLSSocket> {
  const identity = sandboxIdentity(agent.sandboxId, agent.generation);
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const session = sessions.of(identity);
  const socket = connect({
    host: agent.host,
    port: agent.port,
    secureContext,
    ...(session && { session }),
    // Node's types lack it.
    ...{ allowHalfOpen: true },
    // Below: it is no name of a host.
    checkServerIdentity: () => undefined,
  });
  const late = setTimeout(() => socket.destroy(unreachable(tooSlow(socket))), handshakeMs);
  const failed = (error: Error) => {
    clearTimeout(late);
    socket.destroy();
    reject(socket.authorizationError ? distrusted(error) : error);
  };
  socket.once('error', failed);
  socket.once('secureConnect', () => {
    // Only the agent that has shown its certificate can resume a session that is kept under its identity.
    const known = socket.isSessionReused();
    if (!known && socket.getPeerX509Certificate()?.subjectAltName !== `URI:${identity}`) {
      failed(unavailable('Another sandbox answers in its place.'));
      return;
    }
    clearTimeout(late);
    socket.off('error', failed);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepaliveMs);
    socket.on('session', (session: Buffer) => sessions.keep(identity, session));
    resolve(socket);
  });
  return promise;
}

/** Tells a network that loses packets from an agent that does nothing. */
function tooSlow({ connecting }: TLSSocket): Error {
  return new Error(`${connecting ? 'no connection' : 'no answer of TLS'} after ${handshakeMs} ms`);
}

function unreachable(cause?: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The sandbox does not answer.',
    { hint: 'Try again, or look at its state with Sandbox.GetSandbox.' },
    cause,
  );
}

function distrusted(cause: Error): SandhavenError {
  const hint = 'Stop and start the sandbox: it then gets a new certificate.';
  const { code } = cause as NodeJS.ErrnoException;
  const detail =
    code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID'
      ? "The certificate of the sandbox's agent is not valid at this time."
      : "The sandbox's agent has no certificate of this installation.";
  return new SandhavenError('unavailable', detail, { hint }, cause);
}

const { sessions: MOST, sessionBytes: MAX_BYTES } = limits.agentTls;

/**
 * The last TLS session of each agent, by its identity. The next connection resumes it and saves the signatures of
 * both sides; the keys are exchanged anew. An agent that does not know it any more makes a whole handshake.
 */
export class TlsSessions {
  /** The least recently kept first. */
  readonly #sessions = new Map<string, Buffer>();

  of(identity: string): Buffer | undefined {
    return this.#sessions.get(identity);
  }

  keep(identity: string, session: Buffer): void {
    if (session.length > MAX_BYTES) return;
    this.#sessions.delete(identity);
    this.#sessions.set(identity, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MOST && oldest !== undefined) this.#sessions.delete(oldest);
  }
}
