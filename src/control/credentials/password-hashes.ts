/**
 * Hashes of passwords: Argon2id in Node's thread pool, few at once and few that wait, so that neither the event loop nor the
 * files that share the pool wait for guesses.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { createSemaphore } from '../../concurrency/in-portions.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

const { hash: standard, hashesAtOnce, hashesWaiting } = limits.passwords;

/** Cost of one hash, kept beside it: a later version may raise it for new ones. */
export interface HashCost {
  memoryKiB: number;
  passes: number;
  parallelism: number;
}

export type Derive = (password: string, salt: Buffer, cost: HashCost) => Promise<Buffer>;

const FORM = /^argon2id\$(\d{1,7})\$(\d{1,3})\$(\d{1,3})\$([\w-]+)\$([\w-]+)$/;

export class PasswordHashes {
  readonly #derive: Derive;
  readonly #places = createSemaphore(hashesAtOnce);
  #strangers = 0;
  /** Stands for the password of a user who has none: checking it takes as long. */
  readonly #nobody = { salt: randomBytes(standard.saltBytes), hash: randomBytes(standard.hashBytes) };

  /** @param derive Argon2id, unless a test counts its calls. */
  constructor(derive: Derive = argon2id) {
    this.#derive = derive;
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(standard.saltBytes);
    const hash = await this.#inTurn(password, salt, standard);
    const { memoryKiB, passes, parallelism } = standard;
    const parts = [memoryKiB, passes, parallelism, salt.toString('base64url'), hash.toString('base64url')];
    return `argon2id$${parts.join('$')}`;
  }

  /**
   * Computes one hash in any case. Rejects with `resource_exhausted` when too many strangers wait.
   * @param stored null: false, after the same work
   */
  async matches(password: string, stored: string | null, isStranger = true): Promise<boolean> {
    const known = stored === null ? null : parsed(stored);
    const { salt, hash, cost } = known ?? { ...this.#nobody, cost: standard };
    const computed = await (isStranger
      ? this.#amongStrangers(password, salt, cost)
      : this.#inTurn(password, salt, cost));
    return computed.length === hash.length && timingSafeEqual(computed, hash) && known !== null;
  }

  /** Strangers alone are bounded together: whoever is known has a rate, and many networks that guess keep nobody out. */
  async #amongStrangers(password: string, salt: Buffer, cost: HashCost): Promise<Buffer> {
    if (this.#strangers >= hashesAtOnce + hashesWaiting) throw busy();
    this.#strangers++;
    try {
      return await this.#inTurn(password, salt, cost);
    } finally {
      this.#strangers--;
    }
  }

  #inTurn(password: string, salt: Buffer, cost: HashCost): Promise<Buffer> {
    // One text may be typed as different characters, depending on the keyboard.
    return this.#places.run(() => this.#derive(password.normalize('NFKC'), salt, cost));
  }
}

function parsed(stored: string): { salt: Buffer; hash: Buffer; cost: HashCost } {
  const [, memoryKiB, passes, parallelism, salt = '', hash = ''] = FORM.exec(stored) ?? [];
  const cost = {
    memoryKiB: Number(memoryKiB),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  return { salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url'), cost };
}

export function argon2id(password: string, salt: Buffer, cost: HashCost): Promise<Buffer> {
  const { memoryKiB: memory, passes, parallelism } = cost;
  const parameters = { message: password, nonce: salt, memory, passes, parallelism };
  return new Promise((resolve, reject) => {
    argon2('argon2id', { ...parameters, tagLength: standard.hashBytes }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}

function busy(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'Many passwords are being checked at the moment.', {
    hint: 'Try again in a second, or sign in with a passkey, a link or an API key.',
    retryable: true,
    retry_after_seconds: 1,
  });
}
