/** Registry of open work by the id that permits it, so that it ends with that id. */
import type { Replicas } from '../ports/index.ts';

export type End = () => void;

export class OpenEnds {
  readonly #open = new Map<string, Set<End>>();
  readonly #replicas: Pick<Replicas, 'tell' | 'onTold'> | undefined;

  constructor(replicas?: Pick<Replicas, 'tell' | 'onTold'>) {
    this.#replicas = replicas;
    replicas?.onTold('over', (id) => this.#end(id));
  }

  /** Calls `end` once `id` is over; never after a call of the returned function. */
  watch(id: string, end: End): () => void {
    const all = this.#open.get(id) ?? new Set<End>();
    const own = () => end();
    this.#open.set(id, all.add(own));
    return () => {
      all.delete(own);
      if (all.size === 0 && this.#open.get(id) === all) this.#open.delete(id);
    };
  }

  /**
   * Ends all work under `id`, at every replica, after the store has recorded that `id` is over. The second pass, one turn of the event
   * loop later, ends work that was being admitted at that moment.
   */
  over(id: string): void {
    this.#replicas?.tell('over', id);
    this.#end(id);
    setImmediate(() => this.#end(id));
  }

  #end(id: string): void {
    const all = this.#open.get(id);
    this.#open.delete(id);
    for (const end of all ?? []) end();
  }
}
