/** Defines a command and its input. */
import type { Cursors } from './cursors.ts';
import type { Database } from './database.ts';
import type { Request } from './message.ts';
import type { ScramConversation } from './scram.ts';

/** State of one connection. */
export interface Client {
  readonly id: number;
  /** PostgreSQL role of its login. */
  role: string | null;
  /** A login in progress. `endsAtOnce`: without a last, empty message. */
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
