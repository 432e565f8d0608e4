/**
 * Owns the driver's current client, with its pool of connections. The first use loads the driver and makes the client.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { MongoClient, MongoClientOptions } from 'mongodb';
import { loadInTurns } from '../../concurrency/in-portions.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { operatorNames } from '../../outbound/operator-names.ts';

const bounds = limits.documents;

/** The driver, and before it what it needs most of. */
const DRIVER = ['mongodb-connection-string-url', 'mongodb'];

interface Slot {
  made: Promise<MongoClient>;
  connected: Promise<MongoClient>;
  /** Set once it has found its server. */
  client: MongoClient | null;
}

export class CurrentClient {
  readonly #connectionString: string;
  #slot: Slot | null = null;
  #isClosed = false;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
  }

  /** Returns true once it has found its server. */
  get isConnected(): boolean {
    return Boolean(this.#slot?.client);
  }

  /** A failed client never recovers, so the next call gets another. */
  async get(): Promise<MongoClient> {
    if (this.#isClosed) throw new SandhavenError('unavailable', 'The service is closing.');
    this.#slot ??= open(this.#connectionString);
    const slot = this.#slot;
    try {
      return await slot.connected;
    } catch (error) {
      this.#forget(slot);
      throw error;
    }
  }

  /**
   * Discards a client that no longer finds its server. The driver's monitor waits for ever when it writes to a
   * socket that is destroyed and has not yet emitted its close: Node announces neither room in it nor an error. That
   * client never looks again, however long the server has been back.
   */
  giveUp(client: MongoClient): void {
    if (this.#slot?.client === client) this.#forget(this.#slot);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#slot?.made.catch(() => null);
    const closed = client?.close().catch(() => {});
    // A silent server must not delay the close.
    await Promise.race([closed, pause(bounds.closeMs, undefined, { ref: false })]);
  }

  #forget(slot: Slot): void {
    if (this.#slot !== slot) return;
    this.#slot = null;
    slot.made.then((client) => client.close()).catch(() => {});
  }
}

function open(connectionString: string): Slot {
  const made = createClient(connectionString);
  const connect = async () => {
    slot.client = await (await made).connect();
    return slot.client;
  };
  const slot: Slot = { made, connected: made.then(connect), client: null };
  return slot;
}

async function createClient(connectionString: string): Promise<MongoClient> {
  await loadInTurns(import.meta.url, DRIVER);
  const { MongoClient } = await import('mongodb');
  try {
    return new MongoClient(connectionString, settingsFor(connectionString));
  } catch {
    // The driver's error quotes the connection string.
    throw unreadable();
  }
}

/** The connection string's own settings win; these are defaults, and settings that a string cannot override. */
function settingsFor(connectionString: string): MongoClientOptions {
  const open: MongoClientOptions = {
    appName: 'sandhaven',
    readPreference: 'primaryPreferred',
    maxPoolSize: limits.shares.queries.total,
    maxIdleTimeMS: bounds.idleConnectionMs,
    waitQueueTimeoutMS: bounds.queueTimeMs,
    connectTimeoutMS: bounds.connectTimeoutMs,
    serverSelectionTimeoutMS: bounds.serverSelectionTimeoutMs,
    socketTimeoutMS: bounds.exportTimeMs + bounds.replyGraceMs,
  };
  const said = new Set(
    [...connectionString.matchAll(/[?&]([a-z]+)=/gi)].map((match) => match[1]?.toLowerCase()),
  );
  return {
    ...Object.fromEntries(Object.entries(open).filter(([name]) => !said.has(name.toLowerCase()))),
    compressors: ['none'],
    lookup: operatorNames.lookup,
    monitorCommands: false,
    retryReads: true,
    retryWrites: false,
  };
}

function unreadable(): SandhavenError {
  return new SandhavenError('unavailable', 'The connection string of the document database cannot be read.', {
    hint:
      "The service's operator sets DOCUMENTDB_CONNECTION_STRING to mongodb://USER:PASSWORD@HOST/DATABASE " +
      '(or mongodb+srv://…), with special characters of user and password percent-encoded.',
    retryable: false,
  });
}
