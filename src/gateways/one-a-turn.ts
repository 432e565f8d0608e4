/**
 * Work that many could want in the same turn of the event loop, done for one of them a turn, in the order in which they
 * asked: together they cost a turn what one of them costs.
 */
import { setImmediate } from 'node:timers';

type Work = () => void;

export class OneATurn {
  readonly #waiting = new Set<Work>();
  #immediate: NodeJS.Immediate | null = null;

  /** Once, however often it is asked before its turn. */
  ask(work: Work): void {
    this.#waiting.add(work);
    this.#immediate ??= setImmediate(this.#turn);
  }

  withdraw(work: Work): void {
    this.#waiting.delete(work);
  }

  readonly #turn = (): void => {
    this.#immediate = null;
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    if (this.#waiting.size > 0) this.#immediate = setImmediate(this.#turn);
    next();
  };
}
