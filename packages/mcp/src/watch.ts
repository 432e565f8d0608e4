/** Ends an exchange whose service is silent for too long, and with its caller. */

export class Watch {
  readonly #own = new AbortController();
  readonly #caller: AbortSignal;
  readonly #forward = () => this.#own.abort();
  #timer: NodeJS.Timeout | undefined;
  /** Why the service counts as away; undefined while it does not. */
  reason: Error | undefined;

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    if (caller.aborted) this.#forward();
    caller.addEventListener('abort', this.#forward, { once: true });
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  start(ms: number, why: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.reason = new Error(why);
      this.#own.abort();
    }, ms);
  }

  /** Yields the chunks of a body; its clock stands still while a chunk is worked on. */
  async *reading({ body }: Response, silenceMs: number): AsyncGenerator<Uint8Array> {
    if (!body) return;
    const reader = body.getReader();
    try {
      for (;;) {
        this.start(silenceMs, 'it fell silent');
        const { done, value } = await reader.read();
        clearTimeout(this.#timer);
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#forward);
    // A body that nobody reads would keep its connection.
    this.#own.abort();
  }
}
