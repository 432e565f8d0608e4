/**
 * Messages between the service's main thread and the gateway's thread. The gateway's thread speaks SSH, so
 * that its cryptography delays no request; the main thread knows tokens, sandboxes and machines.
 */
import type { MessagePort } from 'node:worker_threads';
import type { AsUser } from '../../control/ports/index.ts';
import type { ErrorCode, ErrorFields } from '../../model/errors.ts';

/** Worker data of the gateway's thread. */
export interface GatewaySettings {
  /** Private key in OpenSSH's format. */
  hostKey: string;
}

/** Client that has shown a valid token, and the user whom it works as. */
export interface Guest extends AsUser {
  /** Names this one connection to the main thread, and to the agent link in place of a sandbox's id. */
  key: string;
  tokenId: string;
  sandboxId: string;
  /** Environment of every program, apart from the client's own variables. */
  env: Record<string, string>;
  /** Reason, for the client, that the sandbox cannot be used; null when it can. */
  refusal: string | null;
}

export interface Credentials {
  /** Number of the connection, assigned by the main thread. */
  connection: number;
  username: string;
  password: string | null;
}

export interface Questions {
  /** Null when neither the user name nor the password is a valid token. */
  enter: { asked: Credentials; answer: Guest | null };
  /** Fresh byte stream to the agent of the guest's sandbox. */
  channel: { asked: { key: string }; answer: MessagePort };
}

export type Question = keyof Questions;

/** Sent by the gateway's thread. */
export type Report =
  | { [Q in Question]: { type: 'ask'; id: number; question: Q; asked: Questions[Q]['asked'] } }[Question]
  | { type: 'left'; key: string }
  | { type: 'log'; level: 'info' | 'warn' | 'error'; message: string; context: Record<string, unknown> }
  | { type: 'closed' };

/** Sent to the gateway's thread. */
export type Order =
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failure'; id: number; failure: Failure }
  /** Ends the connection now; the reason is for the client. */
  | { type: 'expel'; key: string; reason: string }
  /** Hands over another client, with its bytes on a port of their own. */
  | { type: 'connection'; id: number; address: string; port: MessagePort }
  | { type: 'close' };

/** An error sent between threads, since structured cloning loses classes. */
export interface Failure {
  code: ErrorCode;
  detail: string;
  fields: ErrorFields;
}
