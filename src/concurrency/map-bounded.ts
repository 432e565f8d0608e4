/** `Promise.all` over many items, at most `atOnce` at a time: each holds open files, of which there is a limit. */
export async function mapBounded<T, R>(
  items: T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const entries = items.entries();
  // The workers share one iterator, so each item is taken once.
  const worker = async (): Promise<void> => {
    for (const [at, item] of entries) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
