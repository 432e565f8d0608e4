/**
 * The driver's client of this moment, with its pool of connections. The driver is loaded and a client is made when one
 * is first asked for.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { MongoClient, MongoClientOptions } from 'mongodb';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

const bounds = limits.documents;

interface Slot {
  made: Promise<MongoClient>;
  connected: Promise<MongoClient>;
  /** Once it found its server. */
  client: MongoClient | null;
}

export class CurrentClient {
  readonly #connectionString: string;
  #slot: Slot | null = null;
  #isClosed = false;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
  }

  /** Whether it found its server once. */
  get isConnected(): boolean {
    return Boolean(this.#slot?.client);
  }

  /** A client that cannot connect stays as it is, so the next call gets another. */
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
   * Of one that finds its server no more. The driver's monitor waits for good when it writes to a socket that is
   * destroyed and not yet said to be closed: Node announces neither room in it nor an error. That client never looks
   * again, however long the server has been back.
   */
  giveUp(client: MongoClient): void {
    if (this.#slot?.client === client) this.#forget(this.#slot);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#slot?.made.catch(() => null);
    const closed = client?.close().catch(() => {});
    // A server that is silent is not waited for.
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
  const { MongoClient } = await import('mongodb');
  try {
    return new MongoClient(connectionString, settingsFor(connectionString));
  } catch {
    // The error quotes what it could not read.
    throw unreadable();
  }
}

/** What the string says itself holds; these say what it leaves open, and what is not the string's to say. */
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
