/**
 * Work that failed and has to succeed in the end, such as the removal of a machine: repeated until it does. Each failure
 * doubles the pause before the next try. It is kept in memory alone, so it must be work that a restart of the process
 * finds again.
 */

type Work = () => Promise<unknown>;

interface Entry {
  work: Work;
  failures: number;
  /** Turns until the next try. */
  pause: number;
}

const LONGEST_PAUSE = 12;

export class Unfinished {
  readonly #report: (key: string, error: unknown) => void;
  /** By what is done and to whom, so a caller who names both adds no work twice. */
  readonly #works = new Map<string, Entry>();
  readonly #running = new Set<string>();

  /** @param report Takes each failure. */
  constructor(report: (key: string, error: unknown) => void) {
    this.#report = report;
  }

  /** Does the work now, and at later turns again until it succeeds. Never rejects. */
  async attempt(key: string, work: Work): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#report(key, error);
      this.add(key, work);
    }
  }

  /**
   * Does the work at the next turn, and at later ones until it succeeds. Replaces earlier work of this key, also the one
   * that runs, and keeps the pause after its failures: work that adds itself again and fails would be tried every turn.
   */
  add(key: string, work: Work): void {
    const earlier = this.#works.get(key);
    if (earlier) earlier.work = work;
    else this.#works.set(key, { work, failures: 0, pause: 0 });
  }

  /** Tries all due work that no other turn is trying, and resolves when it has ended. */
  async turn(): Promise<void> {
    const idle = [...this.#works].filter(([key]) => !this.#running.has(key));
    const due = idle.filter(([, entry]) => entry.pause-- <= 0);
    await Promise.all(due.map(([key, entry]) => this.#try(key, entry)));
  }

  async #try(key: string, entry: Entry): Promise<void> {
    this.#running.add(key);
    const { work } = entry;
    try {
      await work();
      if (entry.work === work) this.#works.delete(key);
    } catch (error) {
      entry.failures += 1;
      entry.pause = Math.min(LONGEST_PAUSE, 2 ** entry.failures - 1);
      this.#report(key, error);
    } finally {
      this.#running.delete(key);
    }
  }
}
