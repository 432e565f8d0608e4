/** Work in progress, so that a stop can wait for what had begun before it while more begins and ends. */

export class InProgress<T> {
  /** Settled when the work ends. */
  readonly #open = new Map<T, PromiseWithResolvers<void>>();

  /** Returns what ends the work; calling it again does nothing. */
  begin(work: T): () => void {
    const end = Promise.withResolvers<void>();
    this.#open.set(work, end);
    return () => {
      this.#open.delete(work);
      end.resolve();
    };
  }

  /** Resolves once all work that is in progress now has ended, or the time is over: with what is still in progress then. */
  async endOfThese(timeoutMs: number): Promise<T[]> {
    const these = [...this.#open];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(these.map(([, { promise }]) => promise)), late]);
    clearTimeout(timer);
    return these.flatMap(([work]) => (this.#open.has(work) ? [work] : []));
  }
}
