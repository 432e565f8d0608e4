/**
 * Logs clients in: the token as the password of the sandbox's id, or as the user name alone, which then needs
 * no password. Nothing that a client sends here is logged: any of it may be a token. Addresses that try wrong tokens are slowed down.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthContext, Connection } from 'ssh2';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Guest } from '../messages.ts';

/** Authentication methods listed to every client, whatever it tries. */
const METHODS: 'password'[] = ['password'];

export interface LoginDependencies {
  address: string;
  enter(username: string, password: string | null): Promise<Guest | null>;
  leave(key: string): void;
  wrongTokens: WrongTokens;
  log: Log;
}

/**
 * Resolves with the guest before the client's login is confirmed; null when nobody logged in. Rejects when the
 * token could not be checked.
 */
export function login(connection: Connection, parts: LoginDependencies): Promise<Guest | null> {
  return new Promise((resolve, reject) => {
    const attempt = new Login(connection, parts, resolve);
    connection.on('close', () => attempt.close());
    connection.on('authentication', (context) => {
      attempt.answer(context).catch((error: unknown) => {
        connection.end();
        reject(error);
      });
    });
  });
}

class Login {
  readonly #connection: Connection;
  readonly #parts: LoginDependencies;
  readonly #resolve: (guest: Guest | null) => void;
  #requests = 0;
  #wrong = 0;
  #over = false;

  constructor(connection: Connection, parts: LoginDependencies, resolve: (guest: Guest | null) => void) {
    this.#connection = connection;
    this.#parts = parts;
    this.#resolve = resolve;
  }

  async answer(context: AuthContext): Promise<void> {
    if (this.#over) return;
    this.#requests++;
    if (this.#requests > limits.ssh.loginRequests) {
      this.#giveUp();
      return;
    }
    const password = context.method === 'password' ? context.password : null;
    if (password === null && context.method !== 'none') {
      context.reject(METHODS);
      return;
    }
    const guest = await this.#parts.enter(context.username, password);
    if (guest) this.#admit(context, guest);
    else await this.#refuse(context, password !== null);
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#resolve(null);
  }

  #admit(context: AuthContext, guest: Guest): void {
    // The client may have gone during the lookup of the token.
    if (this.#over) {
      this.#parts.leave(guest.key);
      return;
    }
    this.#over = true;
    this.#resolve(guest);
    // The guest's listeners must be attached first.
    setImmediate(() => context.accept());
  }

  /** Every client begins with the method `none`, which alone counts as no wrong token. */
  async #refuse(context: AuthContext, tried: boolean): Promise<void> {
    if (tried) {
      this.#wrong++;
      await this.#parts.wrongTokens.answer(this.#parts.address, performance.now());
    }
    if (this.#over) return;
    if (this.#wrong >= limits.ssh.wrongTokens) this.#giveUp();
    else context.reject(METHODS);
  }

  #giveUp(): void {
    this.#parts.log.warn('an SSH client was disconnected after wrong tokens', {
      address: this.#parts.address,
      tries: this.#wrong,
    });
    this.#connection.end();
    this.close();
  }
}

/**
 * Slows down addresses that try wrong tokens. A token cannot be guessed; this is against clients that try all the
 * same and cost the service its time. Nobody is locked out: several people share an address.
 */
export class WrongTokens {
  /** Keyed by address, in the order of the last wrong token. */
  readonly #recent = new Map<string, { count: number; at: number }>();

  /** Resolves when one more wrong token may be answered. */
  async answer(address: string, now: number): Promise<void> {
    await sleep(this.delay(address, now), undefined, { ref: false });
  }

  /** Counts one more, and returns the delay of its answer. */
  delay(address: string, now: number): number {
    const { wrongTokenDelayMs, wrongTokenDelayMaxMs, wrongTokenForgottenMs, addressesRemembered } =
      limits.ssh;
    const earlier = this.#recent.get(address);
    const count = earlier && now - earlier.at < wrongTokenForgottenMs ? earlier.count + 1 : 1;
    this.#recent.delete(address);
    this.#recent.set(address, { count, at: now });
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= addressesRemembered) break;
      this.#recent.delete(oldest);
    }
    return Math.min(wrongTokenDelayMs * 2 ** Math.min(count - 1, 16), wrongTokenDelayMaxMs);
  }
}
