/** Passes a stream on, and ends with the signal's reason also while the source gives nothing. */
import { abortRace } from '../../concurrency/deadline.ts';

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
