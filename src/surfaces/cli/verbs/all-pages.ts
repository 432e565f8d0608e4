/** Every page of a list, as one. */
import type { Tool } from '../../../catalog/tool.ts';
import type { Problem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Client } from '../client.ts';

export type Listed<Item> = { items: Item[]; problem?: never } | { problem: Problem; items?: never };

/** @param key Field of the result that holds the items. */
export async function allPages<Item>(
  client: Client,
  { tool, key, parameters = {} }: { tool: Tool; key: string; parameters?: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Listed<Item>> {
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const asked = { ...parameters, page, page_size: limits.pageSize.max };
    const { result, problem } = await client(tool, asked, { signal });
    if (problem) return { problem };
    items.push(...(result[key] as Item[]));
    pages = Number(result['total_pages']);
  }
  return { items };
}
