/**
 * Registry of open work by the id that permits it, so that it ends with that id. A message ends it at other replicas; one
 * that was missed is made good by reading the rights anew.
 */
import { mapBounded } from '../../concurrency/in-portions.ts';
import { limits } from '../../model/limits.ts';
import type { Replicas } from '../ports/index.ts';

export type End = () => void;

/** The right to open work, as the store has it. */
export interface Right {
  /** Rights of one name are read once. */
  name: string;
  /** Resolves to false once the right is over; rejects when the store cannot be read. */
  holds(): Promise<boolean>;
}

interface Open {
  end: End;
  right: Right;
}

export class OpenEnds {
  readonly #open = new Map<string, Set<Open>>();
  readonly #replicas: Pick<Replicas, 'tell' | 'onTold'> | undefined;

  constructor(replicas?: Pick<Replicas, 'tell' | 'onTold'>) {
    this.#replicas = replicas;
    replicas?.onTold('over', (id) => this.#end(id));
  }

  /** Calls `end` once `id` or the right is over; never after a call of the returned function. */
  watch(id: string, end: End, right: Right): () => void {
    const all = this.#open.get(id) ?? new Set<Open>();
    const own = { end, right };
    this.#open.set(id, all.add(own));
    return () => this.#forget(id, all, own);
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

  /** Reads the right of all open work anew, and ends what has none. Rejects when the store cannot be read. */
  async recheck(): Promise<void> {
    const byRight = new Map<string, { right: Right; works: (() => void)[] }>();
    for (const [id, all] of this.#open) {
      for (const own of all) {
        const same = byRight.get(own.right.name) ?? { right: own.right, works: [] };
        byRight.set(own.right.name, same);
        same.works.push(() => this.#forget(id, all, own) && own.end());
      }
    }
    await mapBounded([...byRight.values()], limits.replicas.recheckedAtOnce, async ({ right, works }) => {
      if (await right.holds()) return;
      for (const end of works) end();
    });
  }

  /** Ends all open work, whatever its right. */
  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  #end(id: string): void {
    const all = this.#open.get(id);
    this.#open.delete(id);
    for (const own of all ?? []) own.end();
  }

  /** Returns false for work that has left, or was ended, before. */
  #forget(id: string, all: Set<Open>, own: Open): boolean {
    const wasOpen = this.#open.get(id) === all && all.has(own);
    all.delete(own);
    if (all.size === 0 && this.#open.get(id) === all) this.#open.delete(id);
    return wasOpen;
  }
}
