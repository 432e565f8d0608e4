/**
 * Commands that read. A command goes to the extension as its client wrote it, and the result goes to the client as the
 * extension wrote it: pages of cursors are never decoded.
 */
import { deserialize, serialize } from 'bson';
import { numberOf, textOf } from './bson-shape.ts';
import type { Command, LoggedInCall } from './command.ts';
import { Fault } from './faults.ts';

const BSON = 'bytea::documentdb_core.bson';

export const readCommands: Record<string, Command> = {
  find: opens('find_cursor_first_page'),
  aggregate: opens('aggregate_cursor_first_page'),
  listCollections: opens('list_collections_cursor_first_page'),
  listIndexes: opens('list_indexes_cursor_first_page'),
  getMore: { needsLogin: true, run: getMore },
  killCursors: { needsLogin: true, run: killCursors },
  count: answers(`documentdb_api.count_query($1, $2::${BSON})`),
  distinct: answers(`documentdb_api.distinct_query($1, $2::${BSON})`),
  listDatabases: { needsLogin: true, run: listDatabases },
  collStats: { needsLogin: true, run: collStats },
  dbStats: { needsLogin: true, run: dbStats },
};

function opens(procedure: string): Command {
  const sql = `SELECT cursorpage::bytea AS page, continuation::bytea AS continuation, persistconnection AS persists,
    cursorid::text AS id FROM documentdb_api.${procedure}($1, $2::${BSON})`;
  return { needsLogin: true, run: (call) => open(call, sql) };
}

async function open(call: LoggedInCall, sql: string): Promise<Uint8Array> {
  const { client, database, cursors, request, role, signal } = call;
  const backend = await database.acquire(role);
  const startedMs = performance.now();
  let isKept = false;
  try {
    const [row] = await backend.query(sql, [request.database, request.body], signal);
    const { page, continuation, persists, id } = row as {
      page: Buffer;
      continuation: Buffer | null;
      persists: boolean;
      id: string;
    };
    // A client that left meanwhile cannot close its cursor.
    if (continuation === null || signal.aborted) return page;
    const held = persists ? backend : null;
    const timeLimitMs = numberOf(request.body, request.fields.get('maxTimeMS'));
    const timeLeftMs = timeLimitMs ? timeLimitMs - (performance.now() - startedMs) : null;
    cursors.add({ id: BigInt(id), role, continuation, backend: held, connectionId: client.id, timeLeftMs });
    isKept = persists;
    return page;
  } finally {
    if (!isKept) backend.release();
  }
}

/** The extension enforces the time limit on a first page only, so the gateway does on the others. */
async function getMore(call: LoggedInCall): Promise<Uint8Array> {
  const { client, database, cursors, request, role } = call;
  const cursor = cursors.use(cursorId(request), role, client.id);
  const startedMs = performance.now();
  const timeUp =
    cursor.timeLeftMs === null ? null : AbortSignal.timeout(Math.max(1, Math.ceil(cursor.timeLeftMs)));
  const signal = timeUp ? AbortSignal.any([call.signal, timeUp]) : call.signal;
  let next: Buffer | 'end' | 'failed' = 'failed';
  try {
    const sql = `SELECT cursorpage::bytea AS page, continuation::bytea AS continuation
      FROM documentdb_api.cursor_get_more($1, $2::${BSON}, $3::${BSON})`;
    const values = [request.database, request.body, cursor.continuation];
    const [row] = cursor.backend
      ? await cursor.backend.query(sql, values, signal)
      : await database.run(role, sql, values, signal);
    next = (row?.['continuation'] as Buffer | null) ?? 'end';
    return row?.['page'] as Buffer;
  } catch (error) {
    throw timeUp?.aborted ? new Fault('MaxTimeMSExpired', 'operation exceeded time limit') : error;
  } finally {
    if (cursor.timeLeftMs !== null) cursor.timeLeftMs -= performance.now() - startedMs;
    cursors.done(cursor, next);
  }
}

function cursorId({ body, fields }: LoggedInCall['request']): bigint {
  const field = fields.get('getMore');
  if (field?.type !== 18) throw new Fault('BadValue', "Field 'getMore' must be of type long");
  return body.readBigInt64LE(field.start);
}

async function killCursors({ cursors, request, role }: LoggedInCall): Promise<Uint8Array> {
  const asked: unknown = deserialize(request.body, { useBigInt64: true })['cursors'];
  if (!Array.isArray(asked)) throw new Fault('BadValue', "Field 'cursors' must be an array");
  const ids = asked.filter((id): id is bigint => typeof id === 'bigint');
  const killed = ids.filter((id) => cursors.kill(id, role));
  const notFound = ids.filter((id) => !killed.includes(id));
  return serialize({
    cursorsKilled: killed,
    cursorsNotFound: notFound,
    cursorsAlive: [],
    cursorsUnknown: [],
    ok: 1,
  });
}

/** Calls one function of database and command that returns one document. */
function answers(expression: string): Command {
  const sql = `SELECT ${expression}::bytea AS answer`;
  return {
    needsLogin: true,
    run: async (call) => one(call, sql, [call.request.database, call.request.body]),
  };
}

async function one(call: LoggedInCall, sql: string, values: unknown[]): Promise<Uint8Array> {
  const [row] = await call.database.run(call.role, sql, values, call.signal);
  return row?.['answer'] as Buffer;
}

function listDatabases(call: LoggedInCall): Promise<Uint8Array> {
  const sql = `SELECT documentdb_api.list_databases($1::${BSON})::bytea AS answer`;
  return one(call, sql, [call.request.body]);
}

function collStats(call: LoggedInCall): Promise<Uint8Array> {
  const { body, fields, database } = call.request;
  const collection = textOf(body, fields.get('collStats'));
  if (!collection) throw new Fault('InvalidNamespace', 'collStats needs the name of a collection');
  const scale = numberOf(body, fields.get('scale')) ?? 1;
  return one(call, 'SELECT documentdb_api.coll_stats($1, $2, $3)::bytea AS answer', [
    database,
    collection,
    scale,
  ]);
}

function dbStats(call: LoggedInCall): Promise<Uint8Array> {
  const scale = numberOf(call.request.body, call.request.fields.get('scale')) ?? 1;
  return one(call, 'SELECT documentdb_api.db_stats($1, $2, false)::bytea AS answer', [
    call.request.database,
    scale,
  ]);
}
