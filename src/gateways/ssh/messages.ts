/**
 * What the service's main thread and the gateway's thread say to each other. SSH is spoken in the gateway's
 * thread, so that its cryptography holds up nobody; the main thread knows tokens, sandboxes and machines.
 */
import type { MessagePort } from 'node:worker_threads';
import type { ErrorCode, ErrorFields } from '../../model/errors.ts';

/** Given to the gateway's thread when it is made. */
export interface GatewaySettings {
  /** In OpenSSH's format. */
  hostKey: string;
}

/** Somebody who has shown a token that is good. */
export interface Guest {
  /** Names this one connection to the main thread, and to the agent link in place of a sandbox's id. */
  key: string;
  tokenId: string;
  sandboxId: string;
  /** The environment of every program, the client's own variables apart. */
  env: Record<string, string>;
  /** Why there is nothing to be done in the sandbox, in words for the client; null when there is. */
  refusal: string | null;
}

export interface Credentials {
  /** As the main thread has numbered it. */
  connection: number;
  username: string;
  password: string | null;
}

export interface Questions {
  /** Null when neither the user name nor the password is a token that is good. */
  enter: { asked: Credentials; answer: Guest | null };
  /** A fresh byte stream to the agent of the guest's sandbox. */
  channel: { asked: { key: string }; answer: MessagePort };
}

export type Question = keyof Questions;

/** From the gateway's thread. */
export type Report =
  | { [Q in Question]: { type: 'ask'; id: number; question: Q; asked: Questions[Q]['asked'] } }[Question]
  | { type: 'left'; key: string }
  | { type: 'log'; level: 'info' | 'warn' | 'error'; message: string; context: Record<string, unknown> }
  | { type: 'closed' };

/** To the gateway's thread. */
export type Order =
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failure'; id: number; failure: Failure }
  /** The connection ends now; the reason is for the client. */
  | { type: 'expel'; key: string; reason: string }
  /** Another client, its bytes on a port of their own. */
  | { type: 'connection'; id: number; address: string; port: MessagePort }
  | { type: 'close' };

/** An error on its way between threads, which clone no classes. */
export interface Failure {
  code: ErrorCode;
  detail: string;
  fields: ErrorFields;
}
