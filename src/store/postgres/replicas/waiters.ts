/** Calls that wait for news of a row. */

export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next news of the row, or after that time. */
  wait(row: string, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const all = this.#waiting.get(row) ?? new Set();
      const done = () => {
        clearTimeout(timer);
        all.delete(done);
        if (all.size === 0 && this.#waiting.get(row) === all) this.#waiting.delete(row);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#waiting.set(row, all.add(done));
    });
  }

  wake(row: string): void {
    for (const done of [...(this.#waiting.get(row) ?? [])]) done();
  }

  wakeAll(): void {
    for (const row of [...this.#waiting.keys()]) this.wake(row);
  }
}
