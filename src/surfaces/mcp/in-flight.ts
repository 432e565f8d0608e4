/**
 * Tracks calls in progress of clients of the 2025 revisions, which cancel by a notification in a request of
 * its own. The session id is only the client's half of the key: nothing else depends on it, so an id given
 * out by another process of the service is as good as a new one.
 */
export interface CallKey {
  callerId: string;
  sessionId: string;
  requestId: string | number;
}

export class InFlightCalls {
  readonly #cancels = new Map<string, () => void>();

  /** Until the returned function is called, `cancel` of this key calls `onCancel`. */
  add(key: CallKey, onCancel: () => void): () => void {
    const text = JSON.stringify([key.callerId, key.sessionId, key.requestId]);
    this.#cancels.set(text, onCancel);
    return () => {
      if (this.#cancels.get(text) === onCancel) this.#cancels.delete(text);
    };
  }

  cancel(key: CallKey): void {
    this.#cancels.get(JSON.stringify([key.callerId, key.sessionId, key.requestId]))?.();
  }
}
