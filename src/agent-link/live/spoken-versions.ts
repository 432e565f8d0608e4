/** Versions of the protocol that agents speak, by sandbox and run: an agent is replaced at a start, and only then. */
import { limits } from '../../model/limits.ts';

interface Known {
  generation: number;
  version: number;
}

export class SpokenVersions {
  readonly #known = new Map<string, Known>();

  note(id: string, known: Known): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > limits.live.knownAgents && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Returns null for an agent that has yet to greet. */
  of(id: string, generation: number): number | null {
    const known = this.#known.get(id);
    return known?.generation === generation ? known.version : null;
  }
}
