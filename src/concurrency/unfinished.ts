/**
 * Work that failed and has to succeed in the end, such as the removal of a machine: repeated until it does. It is
 * kept in memory alone, so it must be work that a restart of the process finds again.
 */

type Work = () => Promise<unknown>;

export class Unfinished {
  readonly #report: (key: string, error: unknown) => void;
  /** By what is done and to whom, so a caller who names both adds no work twice. */
  readonly #works = new Map<string, Work>();
  readonly #running = new Set<string>();

  /** @param report Takes each failure. */
  constructor(report: (key: string, error: unknown) => void) {
    this.#report = report;
  }

  /** Does the work now, and at each turn again until it succeeds. Never rejects. */
  async attempt(key: string, work: Work): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#report(key, error);
      this.add(key, work);
    }
  }

  /** Does the work at each turn until it succeeds. Replaces earlier work of this key. */
  add(key: string, work: Work): void {
    this.#works.set(key, work);
  }

  /** Tries all work once that no other turn is trying, and resolves when it has ended. */
  async turn(): Promise<void> {
    const idle = [...this.#works].filter(([key]) => !this.#running.has(key));
    await Promise.all(idle.map(([key, work]) => this.#try(key, work)));
  }

  async #try(key: string, work: Work): Promise<void> {
    this.#running.add(key);
    try {
      await work();
      if (this.#works.get(key) === work) this.#works.delete(key);
    } catch (error) {
      this.#report(key, error);
    } finally {
      this.#running.delete(key);
    }
  }
}
