/** The document database's own image in a sandbox of a service, with a port of the host that leads to it. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { Client as SshClient } from 'ssh2';
import { must, type Service } from './service.ts';

/** Only of servers that a test starts; with what a connection string must escape. */
export const passwords = { sandhaven: 'admin:/p@ss%word', reader: 'reader p@ss' } as const;

/** What a service is needed for here. */
type Called = Pick<Service, 'url' | 'apiKey'>;

export type DocumentDbUser = keyof typeof passwords;

export interface DocumentDb {
  sandbox: string;
  /** Of the host; it leads to the database also after the sandbox was stopped and started. */
  port: number;
  uri(user: DocumentDbUser): string;
  close(): Promise<void>;
}

const READY_TIMEOUT_MS = 30_000;
/** Where the database listens inside. */
const INNER_PORT = 27_017;

const environment = {
  DOCUMENTDB_ADMIN_PASSWORD: passwords.sandhaven,
  DOCUMENTDB_READER_PASSWORD: passwords.reader,
};

/** Started by the machine itself, as `sandhaven demo-db` has it. */
export async function startDocumentDb(service: Called): Promise<DocumentDb> {
  const snapshot = `documentdb-${Math.random().toString(36).slice(2, 10)}`;
  const entrypoint = ['/usr/local/bin/documentdb-start'];
  await must(service, 'CreateSnapshot', { name: snapshot, image: 'documentdb', entrypoint });
  await snapshotIsActive(service, snapshot);
  return reachable(service, { snapshot });
}

/** A machine of the image, in which nothing is started yet. */
export function createDocumentDb(service: Called): Promise<DocumentDb> {
  return reachable(service, { image: 'documentdb' });
}

async function reachable(service: Called, from: Record<string, string>): Promise<DocumentDb> {
  const parameters = { ...from, auto_stop_minutes: 0, env_vars: environment };
  const sandbox = String((await must(service, 'CreateSandbox', parameters))['id']);
  const server = await forward(service, sandbox);
  const { port } = server.address() as AddressInfo;
  return {
    sandbox,
    port,
    uri: (user) =>
      `mongodb://${user}:${encodeURIComponent(passwords[user])}@127.0.0.1:${port}/?directConnection=true`,
    async close() {
      server.close();
      await must(service, 'DeleteSandbox', { sandbox });
    },
  };
}

/** Connects, as often as it takes until the server is there, and closes the client afterwards. */
export async function withClient<T>(
  { uri }: Pick<DocumentDb, 'uri'>,
  user: DocumentDbUser,
  work: (client: MongoClient) => Promise<T>,
  options: MongoClientOptions = {},
): Promise<T> {
  const client = await connected(uri(user), options);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

export async function connected(uri: string, options: MongoClientOptions = {}): Promise<MongoClient> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1_000, ...options });
    try {
      await client.db('admin').command({ listDatabases: 1 });
      return client;
    } catch (error) {
      await client.close();
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function snapshotIsActive(service: Called, snapshot: string): Promise<void> {
  for (;;) {
    const { state, state_reason } = await must(service, 'GetSnapshot', { snapshot });
    if (state === 'active') return;
    if (state === 'error') throw new Error(`the image cannot be had: ${String(state_reason)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** By SSH, with a login of its own for each connection: one of before a stop does not live after it. */
async function forward(service: Called, sandbox: string): Promise<Server> {
  const access = await must(service, 'CreateSshAccess', { sandbox, expires_in_minutes: 0 });
  const {
    host,
    port,
    access_token: username,
  } = access as { host: string; port: number; access_token: string };
  const server = createServer((socket) => {
    const ssh = new SshClient();
    const end = (): void => {
      socket.destroy();
      ssh.end();
    };
    socket.on('error', end).on('close', end);
    ssh.on('error', end).on('close', end);
    ssh.on('ready', () => {
      ssh.forwardOut('127.0.0.1', 0, '127.0.0.1', INNER_PORT, (error, channel) => {
        if (error) return end();
        channel.on('error', end).on('close', end);
        socket.pipe(channel).pipe(socket);
      });
    });
    ssh.connect({ host, port, username });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
