/** Finds and runs every command by its name. */
import { serialize } from 'bson';
import type { Call, Command } from './command.ts';
import { explainCommands } from './explain.ts';
import { Fault } from './faults.ts';
import { handshakeCommands } from './handshake.ts';
import { readCommands } from './reads.ts';
import { writeCommands } from './writes.ts';

/** Sessions are only names here: there are no transactions. */
const endSessions: Command = { needsLogin: false, run: async () => serialize({ ok: 1 }) };

const commands = new Map<string, Command>(
  Object.entries({
    ...handshakeCommands,
    ...readCommands,
    ...writeCommands,
    ...explainCommands,
    endSessions,
  }),
);

export async function runCommand(call: Call): Promise<Uint8Array> {
  const { client, request } = call;
  const command = commands.get(request.name);
  if (!command) throw new Fault('CommandNotFound', `no such command: '${request.name}'`);
  if (!command.needsLogin) return command.run(call);
  if (client.role === null)
    throw new Fault('Unauthorized', `Command ${request.name} requires authentication`);
  if (request.fields.has('autocommit')) {
    throw new Fault('OperationNotSupportedInTransaction', 'transactions are not supported');
  }
  if (!/^[^/\\. "$*<>:|?\0]{1,63}$/.test(request.database)) {
    throw new Fault('InvalidNamespace', 'Invalid database name');
  }
  return command.run({ ...call, role: client.role });
}
