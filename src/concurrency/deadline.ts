/** Timeouts, callbacks at a time that may be years away, and work that an abort leaves behind. */

/** Node's own timers fire at once beyond 2^31 ms. */
const LONGEST_TIMER_MS = 24 * 60 * 60 * 1000;

/**
 * Calls `act` once the clock reaches `time` (ms since the epoch), at once when it has. Returns a function that cancels
 * it.
 */
export function at(clock: { now(): number }, time: number, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    const left = time - clock.now();
    if (left <= 0) act();
    else timer = setTimeout(wait, Math.min(left, LONGEST_TIMER_MS));
  };
  wait();
  return () => clearTimeout(timer);
}

/**
 * Resolves or rejects with `work`, or after `timeoutMs` with the result or error of `late`; the work itself continues.
 */
export async function within<T>(timeoutMs: number, work: Promise<T>, late: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    try {
      resolve(late());
    } catch (error) {
      reject(error);
    }
  }, timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves or rejects with `work`, or rejects with the signal's reason as soon as it is aborted; the work itself
 * continues.
 */
export async function abortRace<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Passes a stream on, and ends with the signal's reason also while the source gives nothing. */
export async function* abortable<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const source = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await (signal ? abortRace(source.next(), signal) : source.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a source that hangs would hold the caller.
    void source.return?.().catch(() => {});
  }
}
