/** Whether the server still holds a cursor whose reader went away. */
import { setTimeout as pause } from 'node:timers/promises';
import { Long, type MongoClient } from 'mongodb';
import { expect } from 'vitest';
import type { Proxy as DatabaseProxy } from '../connection/proxy.ts';

/** The name of a command's first element, and then the cursor's id. */
const READ = '\x12getMore\0';
const END = 'killCursors\0';
/** In the command that ends cursors the ids are among so many bytes. */
const END_BYTES = 200;
const ID_BYTES = 8;
/** What a server may take to notice that a reader is gone who had no time to say so. */
const NOTICED_MS = 8_000;
const LOOK_MS = 100;

/** Cursors that were read on through the proxy, each once. */
export function cursorsRead(proxy: DatabaseProxy): Long[] {
  const [, ...commands] = proxy.sent().split(READ);
  const ids = new Set(commands.map((command) => command.slice(0, ID_BYTES)));
  return [...ids].map((id) => Long.fromBytesLE([...Buffer.from(id, 'latin1')]));
}

/** To ask for a cursor keeps it, so it is asked once: when it was ended, or a server has had time to notice. */
export async function expectForgotten(
  proxy: DatabaseProxy,
  client: MongoClient,
  ids: Long[],
  { database, collection }: { database: string; collection: string },
): Promise<void> {
  expect(ids.length).toBeGreaterThan(0);
  const deadline = Date.now() + NOTICED_MS;
  while (Date.now() < deadline && !ids.every((id) => wasEnded(proxy, id))) await pause(LOOK_MS);
  await pause(LOOK_MS);
  const answer = await client.db(database).command({ killCursors: collection, cursors: ids });
  expect(answer['cursorsKilled']).toEqual([]);
}

function wasEnded(proxy: DatabaseProxy, id: Long): boolean {
  const bytes = Buffer.from(id.toBytesLE()).toString('latin1');
  const [, ...commands] = proxy.sent().split(END);
  return commands.some((command) => command.slice(0, END_BYTES).includes(bytes));
}
