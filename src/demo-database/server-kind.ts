/** Defines the servers for the demo database: our own image, or MongoDB's. All differences between them are here. */
import { randomBytes } from 'node:crypto';
import type { MongoClient } from 'mongodb';
import { limits } from '../model/limits.ts';

export interface ServerKind {
  image: string;
  snapshot: string;
  entrypoint: string[];
  /** True when this project makes the image. */
  builtIn: boolean;
  /** Returns the environment of a new sandbox, with fresh random passwords. */
  environment(): Record<string, string>;
  /** Resolves with true when the server itself answers, with its users; the client is the administrator's. */
  isReady(client: MongoClient, signal: AbortSignal): Promise<boolean>;
  /** Creates the read-only user, where the server does not do so itself. */
  addReader(client: MongoClient, password: string): Promise<void>;
}

export const ADMIN = 'sandhaven';
export const READER = 'reader';
export const ADMIN_PASSWORD = 'DOCUMENTDB_ADMIN_PASSWORD';
export const READER_PASSWORD = 'DOCUMENTDB_READER_PASSWORD';
export const BUILT_IN = 'documentdb';

/** Port of both servers. */
export const SERVER_PORT = 27_017;

const USER_EXISTS = 51_003;

export function serverKind(image: string): ServerKind {
  return image === BUILT_IN ? builtIn : mongo(image);
}

const builtIn: ServerKind = {
  image: BUILT_IN,
  snapshot: BUILT_IN,
  entrypoint: ['/usr/local/bin/documentdb-start'],
  builtIn: true,
  environment: passwords,
  async isReady(client, signal) {
    await client.db('admin').command({ listDatabases: 1, nameOnly: true }, { signal });
    return true;
  },
  // The user exists from the start.
  async addReader() {},
};

/** Matches Docker's official `mongo` images, and compatible ones. */
function mongo(image: string): ServerKind {
  return {
    image,
    snapshot: `demo-db ${image.replace(/[^A-Za-z0-9._-]/g, '-')}`.slice(0, limits.sandboxNameChars),
    entrypoint: ['docker-entrypoint.sh', 'mongod'],
    builtIn: false,
    environment() {
      const drawn = passwords();
      const root = { MONGO_INITDB_ROOT_USERNAME: ADMIN, MONGO_INITDB_ROOT_PASSWORD: drawn[ADMIN_PASSWORD] };
      return { ...drawn, ...root };
    },
    /** Before the server's first start, its image runs another one without authentication, to add the user. */
    async isReady(client, signal) {
      const { argv } = await client.db('admin').command({ getCmdLineOpts: 1 }, { signal });
      return Array.isArray(argv) && argv.includes('--auth');
    },
    async addReader(client, password) {
      const user = { pwd: password, roles: [{ role: 'readAnyDatabase', db: 'admin' }] };
      const admin = client.db('admin');
      await admin.command({ createUser: READER, ...user }).catch(async (error: { code?: unknown }) => {
        if (error.code !== USER_EXISTS) throw error;
        await admin.command({ updateUser: READER, ...user });
      });
    },
  };
}

function passwords() {
  return { [ADMIN_PASSWORD]: password(), [READER_PASSWORD]: password() };
}

/** Returns 128 bits that need no escape in a connection string. */
function password(): string {
  return randomBytes(16).toString('hex');
}
