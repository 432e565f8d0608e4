/** The users of the server: roles of PostgreSQL with the extension's rights, and passwords that the environment names. */
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { Database } from './database.ts';
import { scramVerifier } from './scram.ts';

interface User {
  name: string;
  passwordVariable: string;
  /** What the extension itself grants for readWriteAnyDatabase with clusterAdmin, and for readAnyDatabase. */
  memberOf: string[];
}

export const users: User[] = [
  {
    name: 'sandhaven',
    passwordVariable: 'DOCUMENTDB_ADMIN_PASSWORD',
    memberOf: ['documentdb_admin_role'],
  },
  {
    name: 'reader',
    passwordVariable: 'DOCUMENTDB_READER_PASSWORD',
    memberOf: ['documentdb_readonly_role', 'pg_read_all_data'],
  },
];

/** A user whose password is not given keeps the one it has; without any it cannot log in. Returns who has none given. */
export async function applyUsers(database: Database, env: NodeJS.ProcessEnv): Promise<string[]> {
  const without: string[] = [];
  for (const user of users) {
    const password = env[user.passwordVariable];
    // No child of the gateway, and nothing that reads its environment later, needs it.
    delete env[user.passwordVariable];
    await applyUser(database, user, password);
    if (!password) without.push(user.name);
  }
  return without;
}

async function applyUser(database: Database, user: User, password: string | undefined): Promise<void> {
  const name = escapeIdentifier(user.name);
  const [found] = await database.control('SELECT 1 FROM pg_roles WHERE rolname = $1', [user.name]);
  if (!found) await database.control(`CREATE ROLE ${name} LOGIN`);
  for (const role of user.memberOf) await database.control(`GRANT ${escapeIdentifier(role)} TO ${name}`);
  if (!password) return;
  // What clients make of other characters before they use them (SASLprep) would have to be done here too.
  if (!/^[\x20-\x7e]{1,256}$/.test(password))
    throw new Error(`${user.passwordVariable} must be 1 to 256 ASCII characters`);
  await database.control(`ALTER ROLE ${name} PASSWORD ${escapeLiteral(scramVerifier(password))}`);
}
