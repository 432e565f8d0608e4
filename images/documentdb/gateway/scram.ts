/**
 * Implements SCRAM-SHA-256 (RFC 5802, RFC 7677) on PostgreSQL's roles: the database keeps salt and keys and checks
 * the proof; the gateway keeps the conversation of one connection.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { deserialize } from 'bson';
import type { Database } from './database.ts';
import { Fault } from './faults.ts';
import { limits } from './limits.ts';

export const MECHANISM = 'SCRAM-SHA-256';
/** Same as MongoDB's own default. */
const ITERATIONS = 15_000;
const SALT_BYTES = 28;
/** Derives salts for unknown users, which look like those of known ones. */
const decoyKey = randomBytes(32);

export class ScramConversation {
  readonly #database: Database;
  readonly user: string;
  readonly #clientFirst: string;
  #serverFirst = '';
  #nonce = '';

  /** @param payload The client's first message: `n,,n=user,r=nonce`. */
  constructor(database: Database, payload: string) {
    const found = /^n,,(n=([^,]+),r=([\x21-\x2b\x2d-\x7e]+))$/.exec(payload);
    const [, bare = '', name = '', nonce = ''] = found ?? [];
    if (!found || payload.length > limits.saslBytes) throw failed();
    this.#database = database;
    this.#clientFirst = bare;
    this.#nonce = nonce;
    this.user = name.replace(/=2C/g, ',').replace(/=3D/g, '=');
  }

  async challenge(): Promise<string> {
    const { salt, iterations } = await this.#saltOf(this.user);
    this.#nonce += randomBytes(24).toString('base64');
    this.#serverFirst = `r=${this.#nonce},s=${salt},i=${iterations}`;
    return this.#serverFirst;
  }

  /** @returns the server's own proof. Rejects a wrong password and an unknown user alike. */
  async verify(payload: string): Promise<string> {
    const [, unproven = '', nonce = '', proof = ''] = /^(c=biws,r=([^,]+)),p=([\w+/=]+)$/.exec(payload) ?? [];
    if (payload.length > limits.saslBytes || nonce === '' || nonce !== this.#nonce) throw failed();
    const message = `${this.#clientFirst},${this.#serverFirst},${unproven}`;
    const [row] = await this.#database.control(
      'SELECT documentdb_api_internal.authenticate_with_scram_sha256($1, $2, $3)::bytea AS answer',
      [this.user, message, proof],
    );
    const answer = deserialize(row?.['answer'] as Buffer);
    if (answer['ok'] !== 1 || typeof answer['ServerSignature'] !== 'string') throw failed();
    return `v=${answer['ServerSignature']}`;
  }

  async #saltOf(user: string): Promise<{ salt: string; iterations: number }> {
    const [row] = await this.#database.control(
      'SELECT documentdb_api_internal.scram_sha256_get_salt_and_iterations($1)::bytea AS answer',
      [user],
    );
    const answer = deserialize(row?.['answer'] as Buffer);
    if (answer['ok'] === 1) return { salt: answer['salt'], iterations: answer['iterations'] };
    const decoy = createHmac('sha256', decoyKey).update(user).digest().subarray(0, SALT_BYTES);
    return { salt: decoy.toString('base64'), iterations: ITERATIONS };
  }
}

/** Builds PostgreSQL's verifier of a password. The database gets this and never the password. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const key = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(key('Client Key')).digest('base64');
  const server = key('Server Key').toString('base64');
  return `${MECHANISM}$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}

function failed(): Fault {
  return new Fault('AuthenticationFailed', 'Authentication failed.');
}
