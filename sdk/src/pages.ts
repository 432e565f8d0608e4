/** Walks over all pages of a list, fetching each page when its first item is wanted. */

/** Walks lists by `page`. An item made or deleted meanwhile may move another across a page's border. */
export async function* byPage<Page extends { total_pages: number }, Item>(
  first: number | undefined,
  fetchPage: (page: number) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
): AsyncGenerator<Item, void, undefined> {
  for (let number = first ?? 1; ; number++) {
    const page = await fetchPage(number);
    yield* itemsOf(page);
    if (number >= page.total_pages) return;
  }
}

/** Walks lists by `offset`. */
export async function* byOffset<Page extends { has_more: boolean }, Item>(
  first: number | undefined,
  fetchPage: (offset: number) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
): AsyncGenerator<Item, void, undefined> {
  for (let offset = first ?? 0; ; ) {
    const page = await fetchPage(offset);
    const items = itemsOf(page);
    yield* items;
    // A page without items would be requested for ever.
    if (!page.has_more || items.length === 0) return;
    offset += items.length;
  }
}
