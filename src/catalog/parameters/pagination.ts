/** The two ways to page: by number for records, by offset for entries of a file system. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { integerWithDefault } from './scalars.ts';

/** Repeats the caller's input, so it is left out of MCP's list. */
const echoed = { unlisted: true };

export const pageParameters = {
  page: integerWithDefault('Page number', { min: 1, max: limits.listPosition, default: 1 }),
  page_size: integerWithDefault('Records a page', limits.pageSize),
};

export const pageOutput = {
  total_count: z.int(),
  page: z.int().meta(echoed),
  page_size: z.int().meta(echoed),
  total_pages: z.int(),
};

export const offsetParameters = {
  max_items: integerWithDefault('Most to return', limits.maxItems),
  offset: integerWithDefault('How many to skip', { min: 0, max: limits.listPosition, default: 0 }),
};

export const offsetOutput = {
  total_count: z.int(),
  has_more: z.boolean(),
  offset: z.int().meta(echoed),
};

export function pageOf(totalCount: number, query: { page: number; page_size: number }) {
  return {
    total_count: totalCount,
    page: query.page,
    page_size: query.page_size,
    total_pages: Math.ceil(totalCount / query.page_size),
  };
}

/** Returns `41 sandboxes, page 2 of 3; next: page 3.` @param things Singular and plural. */
export function pageText(
  { total_count, page, total_pages }: { total_count: number; page: number; total_pages: number },
  [one, several]: [string, string],
): string {
  const counted = `${total_count} ${total_count === 1 ? one : several}`;
  if (total_count === 0) return `${counted}.`;
  if (page > total_pages) return `${counted}; page ${page} is past the last, ${total_pages}.`;
  return `${counted}, page ${page} of ${total_pages}${page < total_pages ? `; next: page ${page + 1}` : ''}.`;
}

export function offsetOf(totalCount: number, returned: number, offset: number) {
  return { total_count: totalCount, has_more: offset + returned < totalCount, offset };
}
