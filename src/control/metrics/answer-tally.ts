/** Answers of a gateway by the class of their status. */

export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof statusClasses)[number];

export class AnswerTally {
  readonly #counts = new Map<StatusClass, number>(statusClasses.map((name) => [name, 0]));

  /** A status that HTTP does not know counts as a fault of the server. */
  note(status: number): void {
    const name = statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  get byClass(): ReadonlyMap<StatusClass, number> {
    return this.#counts;
  }
}
