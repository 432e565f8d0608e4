/** Commands that write, and those that make and drop collections and indexes. */
import { deserialize, serialize } from 'bson';
import { textOf } from './bson-shape.ts';
import type { Command, LoggedInCall } from './command.ts';
import { codeOf, unpackSqlState } from './fault-codes.ts';
import { Fault, nameOf } from './faults.ts';

const BSON = 'bytea::documentdb_core.bson';

export const writeCommands: Record<string, Command> = {
  insert: { needsLogin: true, run: (call) => write(call, 'insert', 'documents') },
  update: { needsLogin: true, run: (call) => write(call, 'update', 'updates') },
  delete: { needsLogin: true, run: (call) => write(call, 'delete', 'deletes') },
  create: answers(`documentdb_api.create_collection_view($1, $2::${BSON})`),
  createIndexes: answers(`documentdb_api_internal.create_indexes_non_concurrently($1, $2::${BSON}, true)`),
  drop: { needsLogin: true, run: drop },
  dropDatabase: { needsLogin: true, run: dropDatabase },
};

interface WriteError {
  code: number;
  errmsg?: string;
  codeName?: string;
}

async function write(call: LoggedInCall, name: string, list: string): Promise<Uint8Array> {
  const { database, request, role, signal } = call;
  const sql = `SELECT p_result::bytea AS answer, p_success AS succeeded
    FROM documentdb_api.${name}($1, $2::${BSON}, $3::bytea::documentdb_core.bsonsequence)`;
  const documents = request.sequences.get(list) ?? null;
  const [row] = await database.run(role, sql, [request.database, request.body, documents], signal);
  const answer = row?.['answer'] as Buffer;
  return row?.['succeeded'] === true ? answer : withCodes(answer);
}

/** Replaces PostgreSQL's numbers for errors of single writes by MongoDB's. */
function withCodes(answer: Buffer): Uint8Array {
  const decoded = deserialize(answer, { promoteValues: true, useBigInt64: true });
  const errors: WriteError[] = decoded['writeErrors'] ?? [];
  // A permission error refuses the whole command, as in MongoDB.
  const refused = errors.find((error) => codeOf(unpackSqlState(error.code)) === 13);
  if (refused) throw new Fault('Unauthorized', 'not authorized to execute this command');
  decoded['writeErrors'] = errors.map((error) => {
    const code = codeOf(unpackSqlState(error.code)) ?? error.code;
    return { ...error, code, codeName: nameOf(code) };
  });
  return serialize(decoded);
}

function answers(expression: string): Command {
  const sql = `SELECT ${expression}::bytea AS answer`;
  return {
    needsLogin: true,
    async run({ database, request, role, signal }) {
      const [row] = await database.run(role, sql, [request.database, request.body], signal);
      return row?.['answer'] as Buffer;
    },
  };
}

async function drop({ database, request, role, signal }: LoggedInCall): Promise<Uint8Array> {
  const collection = textOf(request.body, request.fields.get('drop'));
  if (!collection) throw new Fault('InvalidNamespace', 'drop needs the name of a collection');
  const sql = 'SELECT documentdb_api.drop_collection($1, $2)';
  await database.run(role, sql, [request.database, collection], signal);
  return serialize({ ns: `${request.database}.${collection}`, ok: 1 });
}

async function dropDatabase({ database, request, role, signal }: LoggedInCall): Promise<Uint8Array> {
  await database.run(role, 'SELECT documentdb_api.drop_database($1)', [request.database], signal);
  return serialize({ dropped: request.database, ok: 1 });
}
