/**
 * Logs clients in: the token as the password of the sandbox's id, or as the user name alone, which then needs
 * no password. Nothing that a client sends here is logged: any of it may be a token.
 */
import type { AuthContext, Connection } from 'ssh2';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { WrongTokens } from '../main/wrong-tokens.ts';
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
