/** Work over many things, in portions: a bounded number at a time, or page after page. */

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

/**
 * Reads rows page after page, so that many of them neither fill the memory nor hold the event loop.
 * Yields all rows in the order of their ids.
 * @param read Returns the first rows after the id, in the order of ids; none at the end.
 */
export async function* paged<T extends { id: string }>(
  read: (afterId: string) => Promise<T[]>,
): AsyncGenerator<T> {
  for (let page = await read(''); page.length > 0; page = await read(page.at(-1)?.id ?? '')) yield* page;
}
