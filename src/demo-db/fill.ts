/** Waits for the server in the sandbox, and puts the data set into it where it is not there yet. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import { type LoadedData, loadDemoData } from '../demo-data/load.ts';
import { SandhavenError } from '../model/errors.ts';
import { ADMIN, connectionString, type Passwords, READER } from './server.ts';

/** PostgreSQL after a crash, or MongoDB that initializes itself. */
const START_TIMEOUT_MS = 120_000;
const ATTEMPT_TIMEOUT_MS = 2_000;
const RETRY_MS = 200;
const USER_EXISTS = 51_003;

export interface FillRequest {
  address: { host: string; port: number };
  passwords: Passwords;
  documents: number;
  makesReader: boolean;
  signal: AbortSignal;
  say(step: string): void;
  onProgress(done: number, total: number): void;
}

export async function fill(request: FillRequest): Promise<LoadedData> {
  const { signal, say } = request;
  say('waiting for the server');
  const client = await connect(request);
  try {
    if (!request.makesReader) await makeReader(client, request.passwords.reader);
    const { documents, onProgress } = request;
    return await loadDemoData(client, { documents, onProgress, signal });
  } finally {
    await client.close();
  }
}

async function connect({ address, passwords, signal }: FillRequest): Promise<MongoClient> {
  const { MongoClient } = await import('mongodb');
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new MongoClient(connectionString(ADMIN, passwords.admin, address), {
      serverSelectionTimeoutMS: ATTEMPT_TIMEOUT_MS,
    });
    try {
      await client.db('admin').command({ ping: 1 });
      return client;
    } catch (error) {
      await client.close();
      signal.throwIfAborted();
      if (Date.now() > deadline) throw notThere(error);
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

async function makeReader(client: MongoClient, password: string): Promise<void> {
  const command = { createUser: READER, pwd: password, roles: ['readAnyDatabase'] };
  await client
    .db('admin')
    .command(command)
    .catch((error: { code?: number }) => {
      if (error.code !== USER_EXISTS) throw error;
    });
}

function notThere(error: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The server in the sandbox does not answer.',
    { hint: '`sandhaven demo-db --remove` takes the sandbox away; then call again.' },
    error,
  );
}
