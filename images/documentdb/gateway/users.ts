/**
 * Manages the users of the server: roles of PostgreSQL with the extension's rights, and passwords from the environment.
 */
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { Database } from './database.ts';
import { scramVerifier } from './scram.ts';

interface User {
  name: string;
  passwordVariable: string;
  /** The extension's own grants for readWriteAnyDatabase with clusterAdmin, and for readAnyDatabase. */
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

/**
 * A user without a given password keeps the old one; without any, logins fail. Returns the users without a given one.
 */
export async function applyUsers(database: Database, env: NodeJS.ProcessEnv): Promise<string[]> {
  const without: string[] = [];
  for (const user of users) {
    const password = env[user.passwordVariable];
    // No child of the gateway, and no later reader of its environment, needs it.
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
  // Other characters would need the clients' normalization (SASLprep) here too.
  if (!/^[\x20-\x7e]{1,256}$/.test(password))
    throw new Error(`${user.passwordVariable} must be 1 to 256 ASCII characters`);
  await database.control(`ALTER ROLE ${name} PASSWORD ${escapeLiteral(scramVerifier(password))}`);
}
