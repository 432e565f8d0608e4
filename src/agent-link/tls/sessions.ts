/**
 * The last TLS session of each agent, by its identity. The next connection resumes it and saves the signatures of both
 * sides; the keys are exchanged anew. An agent that does not know it any more makes a whole handshake.
 */
import { limits } from '../../model/limits.ts';

const { sessions: MOST, sessionBytes: MAX_BYTES } = limits.agentTls;

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
