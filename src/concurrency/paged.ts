/** Reads rows page after page, so that many of them neither fill the memory nor hold the event loop. */

/**
 * Yields all rows in the order of their ids.
 * @param read Returns the first rows after the id, in the order of ids; none at the end.
 */
export async function* paged<T extends { id: string }>(
  read: (afterId: string) => Promise<T[]>,
): AsyncGenerator<T> {
  for (let page = await read(''); page.length > 0; page = await read(page.at(-1)?.id ?? '')) yield* page;
}
