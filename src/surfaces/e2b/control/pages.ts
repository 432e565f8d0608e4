/** Pages of lists. Each begins after a time of creation and an id, so that none is missed where a client deletes what it has. */
import { invalidArgument } from '../../../model/errors.ts';
import type { DaytonaCall as Call } from '../../daytona/base/call.ts';

export const PAGE_SIZE = 100;

interface Placed {
  createdAt: number;
  id: string;
}

/**
 * Returns the page that the client asks for, and names the next one in a header.
 * @param all In the order of the list.
 */
export async function pageOf<T extends Placed>(
  { query, reply }: Call,
  all: AsyncIterable<T>,
  order = 'desc',
): Promise<T[]> {
  const limit = Number(query['limit'] ?? PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_SIZE)
    throw invalidArgument('limit', `limit must be 1 to ${PAGE_SIZE}.`);
  const last = placeIn(query['nextToken']);
  const items: T[] = [];
  for await (const item of all) {
    if (last !== null && !isAfter(item, last, order)) continue;
    if (items.length === limit) {
      reply.header('x-next-token', tokenOf(items.at(-1)));
      break;
    }
    items.push(item);
  }
  return items;
}

function tokenOf(last: Placed | undefined): string {
  return `${last?.createdAt}.${last?.id}`;
}

function placeIn(token: string | undefined): Placed | null {
  if (token === undefined) return null;
  const [, createdAt, id] = /^(\d{1,15})\.(\w+)$/.exec(token) ?? [];
  if (id === undefined) throw invalidArgument('nextToken', 'nextToken must be that of an answer.');
  return { createdAt: Number(createdAt), id };
}

function isAfter({ createdAt, id }: Placed, last: Placed, order: string): boolean {
  const difference = createdAt - last.createdAt || (id > last.id ? 1 : id < last.id ? -1 : 0);
  return order === 'asc' ? difference > 0 : difference < 0;
}
