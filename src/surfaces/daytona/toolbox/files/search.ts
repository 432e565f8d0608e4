/** Search in files and for files. Their clients know no pages, so all of them are read. */
import { limits } from '../../../../model/limits.ts';
import type { DaytonaCall, DaytonaRoute } from '../../base/call.ts';

export const searchRoutes: readonly DaytonaRoute[] = [
  {
    method: 'GET',
    path: '/files/find',
    async handler(call) {
      const { path, pattern } = call.query;
      const asked = { path: unshortened(path), query: pattern, literal: true };
      const files = await allOf(call, 'Sandbox.SearchContent', asked, 'files');
      return (files as FoundFile[]).flatMap((file) =>
        file.matches.map(({ line, text }) => ({ file: shown(file.path, path), line, content: text })),
      );
    },
  },
  {
    method: 'GET',
    path: '/files/search',
    async handler(call) {
      const { path, pattern } = call.query;
      const paths = await allOf(call, 'Sandbox.FindFiles', { path: unshortened(path), pattern }, 'paths');
      return { files: (paths as string[]).map((found) => shown(found, path)) };
    },
  },
];

interface FoundFile {
  path: string;
  matches: { line: number; text: string }[];
}

/** Calls a tool until it has no more. @param list Name of the list in its result. */
async function allOf(
  { tool, params }: DaytonaCall,
  name: string,
  parameters: Record<string, unknown>,
  list: string,
): Promise<unknown[]> {
  const all: unknown[] = [];
  for (;;) {
    const asked = { ...params, ...parameters, max_items: limits.maxItems.max, offset: all.length };
    const { [list]: found, has_more } = await tool(name, asked);
    all.push(...(found as unknown[]));
    if (!has_more || (found as unknown[]).length === 0) return all;
  }
}

const ABOVE = '/..';

/**
 * The tools show what is below the folder where relative paths begin without that folder. A path that leads above the root, which
 * is the root again, is shown as it is.
 */
function unshortened(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? `${ABOVE}${path}` : path;
}

function shown(found: string, asked: string | undefined): string {
  return asked?.startsWith('/') && found.startsWith(`${ABOVE}/`) ? found.slice(ABOVE.length) : found;
}
