/** Operations of other replicas: waiting for them, and knowing which have died with theirs. */

import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Replicas, SandboxStore } from '../ports/index.ts';

type Held = Pick<Sandbox, 'id' | 'operation' | 'holder'>;

export class OtherReplicas {
  readonly #replicas: Replicas;
  readonly #store: Pick<SandboxStore, 'reread'>;
  #closed = false;

  constructor(replicas: Replicas, store: Pick<SandboxStore, 'reread'>) {
    this.#replicas = replicas;
    this.#store = store;
  }

  /** true: other replicas may have changed what this one remembers. */
  get exist(): boolean {
    return this.#replicas.shared;
  }

  /** Ends all waiting: another replica's operation may take longer than this one's stop. */
  close(): void {
    this.#closed = true;
  }

  /** Returns true while another live replica works on the sandbox. */
  async workOn({ operation, holder }: Held): Promise<boolean> {
    if (operation === null || holder === null || holder === this.#replicas.id) return false;
    return this.#replicas.lives(holder);
  }

  /** Returns true for the row of an operation that an earlier replica has left, this one under an earlier id included. */
  async haveLeft(row: Held): Promise<boolean> {
    if (!this.#replicas.shared || row.operation === null || row.holder === this.#replicas.id) return false;
    return !(await this.workOn(row));
  }

  /**
   * Returns the row once no other replica works on it, null when it is gone.
   * @param row The row as it was just read.
   * @param asks Whether the other replica is asked to break off, for a delete.
   */
  async done(row: Sandbox | null, asks: boolean, signal?: AbortSignal): Promise<Sandbox | null> {
    for (let asked = !asks; row && (await this.workOn(row)); ) {
      if (!asked) this.#replicas.tell('yield', row.id);
      asked = true;
      await this.#replicas.changed(row.id, limits.replicas.lookAgainMs);
      signal?.throwIfAborted();
      if (this.#closed) throw stopping();
      row = await this.#store.reread(row.id);
    }
    return row;
  }
}

function stopping(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is being stopped.', {
    hint: 'Try again: another replica answers.',
    retryable: true,
  });
}
