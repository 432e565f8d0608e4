/** The two kinds of server that the demo database can be: the one built here, and MongoDB's own image. */
import { randomBytes } from 'node:crypto';
import { readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';

export interface ServerKind {
  /** Of the snapshot that starts the server with every sandbox; another image is another snapshot. */
  snapshot: string;
  image: string;
  entrypoint: string[];
  /** Whether the server makes the reading user by itself. */
  makesReader: boolean;
}

export interface Passwords {
  admin: string;
  reader: string;
}

export const ADMIN = 'sandhaven';
export const READER = 'reader';
export const PORT = 27_017;

const PASSWORD_BYTES = 16;

/** Built of the recipe that the cache has now, so that a new one is not served by an old snapshot. */
export async function builtServer(cacheDir: string): Promise<ServerKind> {
  const recipe = basename(await readlink(join(cacheDir, 'documentdb/current')));
  return {
    snapshot: `documentdb ${recipe.slice(0, 12)}`,
    image: 'documentdb',
    entrypoint: ['/usr/local/bin/documentdb-start'],
    makesReader: true,
  };
}

export function imageServer(image: string): ServerKind {
  return {
    snapshot: `demo-db ${image.replace(/[^A-Za-z0-9._-]/g, '-').slice(-50)}`,
    image,
    entrypoint: ['docker-entrypoint.sh', 'mongod', '--bind_ip', '127.0.0.1'],
    makesReader: false,
  };
}

export function newPasswords(): Passwords {
  return { admin: newPassword(), reader: newPassword() };
}

/** The names of both kinds, so that the passwords are found in the same place. */
export function environmentOf({ admin, reader }: Passwords): Record<string, string> {
  return {
    DOCUMENTDB_ADMIN_PASSWORD: admin,
    DOCUMENTDB_READER_PASSWORD: reader,
    MONGO_INITDB_ROOT_USERNAME: ADMIN,
    MONGO_INITDB_ROOT_PASSWORD: admin,
  };
}

/** null for a sandbox that was made by somebody else. */
export function passwordsIn(environment: unknown): Passwords | null {
  const values = environment as Partial<Record<string, string>> | undefined;
  const admin = values?.['DOCUMENTDB_ADMIN_PASSWORD'];
  const reader = values?.['DOCUMENTDB_READER_PASSWORD'];
  return admin && reader ? { admin, reader } : null;
}

export function connectionString(
  user: string,
  password: string,
  { host, port }: { host: string; port: number },
): string {
  const address = host.includes(':') ? `[${host}]` : host;
  const options = 'authSource=admin&directConnection=true';
  return `mongodb://${user}:${encodeURIComponent(password)}@${address}:${port}/shop?${options}`;
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('hex');
}
