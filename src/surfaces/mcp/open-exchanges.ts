/**
 * Exchanges in progress. Clients of the 2025 revisions cancel a call by a notification in a request of its own; a stop of the
 * service ends all.
 */
export interface Exchange {
  /** Aborts its call, and ends its stream without an answer. */
  close(): Promise<void>;
}

/** The session id is only the client's half: nothing else depends on it, so that of another process is as good as a new one. */
export interface CallKey {
  callerId: string;
  /** Empty for a client without a session: then nothing can be cancelled. */
  sessionId: string;
  requestId: string | number;
}

export class OpenExchanges {
  readonly #all = new Set<Exchange>();
  readonly #byKey = new Map<string, Exchange>();
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  /** Ends with the returned function. Until then `cancel` of the key, if any, closes the exchange. */
  add(exchange: Exchange, key: CallKey | null): () => void {
    this.#all.add(exchange);
    const forget = key ? this.cancellable(exchange, key) : () => {};
    return () => {
      this.#all.delete(exchange);
      forget();
    };
  }

  cancellable(exchange: Exchange, key: CallKey): () => void {
    if (key.sessionId === '') return () => {};
    const text = textOf(key);
    this.#byKey.set(text, exchange);
    return () => {
      if (this.#byKey.get(text) === exchange) this.#byKey.delete(text);
    };
  }

  cancel(key: CallKey): void {
    void this.#byKey
      .get(textOf(key))
      ?.close()
      .catch(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((exchange) => exchange.close()));
  }
}

function textOf({ callerId, sessionId, requestId }: CallKey): string {
  return JSON.stringify([callerId, sessionId, requestId]);
}
