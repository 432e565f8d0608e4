/** Does the same work for many items, a few at once: the work of a bench's set-up must not be a burst itself. */

const AT_ONCE = 4;

/** Begins nothing after an error, and rejects with it when nothing is in progress. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    try {
      while (left.length > 0) await work(left.pop() as T);
    } catch (error) {
      left.length = 0;
      throw error;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}
