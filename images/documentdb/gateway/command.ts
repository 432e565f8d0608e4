/** What a command is, and what it is given. */
import type { Cursors } from './cursors.ts';
import type { Database } from './database.ts';
import type { Request } from './message.ts';
import type { ScramConversation } from './scram.ts';

/** What is remembered of one connection. */
export interface Client {
  readonly id: number;
  /** The role of PostgreSQL that it logged in as. */
  role: string | null;
  /** A login that has begun. `endsAtOnce`: without a last message that says nothing. */
  login: { conversation: ScramConversation; endsAtOnce: boolean; isProven: boolean } | null;
}

export interface Call {
  client: Client;
  database: Database;
  cursors: Cursors;
  request: Request;
  /** Aborted when the client goes. */
  signal: AbortSignal;
}

export interface LoggedInCall extends Call {
  role: string;
}

/** Resolves with the reply as BSON. */
export type Command =
  | { needsLogin: false; run(call: Call): Promise<Uint8Array> }
  | { needsLogin: true; run(call: LoggedInCall): Promise<Uint8Array> };
