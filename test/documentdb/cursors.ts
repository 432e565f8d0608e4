/** Whether the server still holds the cursors that a client has told it to forget. */
import { Long, type MongoClient } from 'mongodb';
import type { Proxy as DatabaseProxy } from './proxy.ts';

const CURSOR_NOT_FOUND = 43;

const COMMAND = 'killCursors\0';
/** Its list of ids: an array, whose length follows, and whose first element is a 64-bit integer. */
const LIST = 'cursors\0';
const BEFORE_ID = '....\x120\0'.length;
const ID_BYTES = 8;

/** Ids of cursors in the `killCursors` commands that went through the proxy, in their order. */
export function killedCursors(proxy: DatabaseProxy): Long[] {
  const [, ...commands] = proxy.sent().split(COMMAND);
  return commands.map((command) => {
    const begin = command.indexOf(LIST) + LIST.length + BEFORE_ID;
    return Long.fromBytesLE([...Buffer.from(command.slice(begin, begin + ID_BYTES), 'latin1')]);
  });
}

export async function isGone(client: MongoClient, id: Long, database: string, collection: string) {
  const outcome = await client
    .db(database)
    .command({ getMore: id, collection })
    .then(
      () => null,
      (error: { code?: number }) => error.code,
    );
  return outcome === CURSOR_NOT_FOUND;
}
