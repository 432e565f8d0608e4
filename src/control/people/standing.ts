/**
 * Who may go on. What is open for a key ends when the key is over, and what is open in a user's sandboxes when the user
 * is disabled; that nothing new is let in is for the store to say.
 */

import { at } from '../../concurrency/deadline.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';
import { type End, OpenEnds } from '../access/open-ends.ts';
import type { Clock, UserStore } from '../ports/index.ts';

export class Standing {
  readonly #users: Pick<UserStore, 'findUser'>;
  readonly #clock: Clock;
  readonly #open = new OpenEnds();

  constructor(users: Pick<UserStore, 'findUser'>, clock: Clock) {
    this.#users = users;
    this.#clock = clock;
  }

  /**
   * Calls `end` once the key is revoked or expires, or its user is disabled; not after the returned function was
   * called.
   */
  whileValid({ id, keyId, keyExpiresAt }: Caller, end: End): () => void {
    const stops = [this.#open.watch(id, end), this.#open.watch(keyId, end)];
    if (keyExpiresAt !== null) stops.push(at(this.#clock, keyExpiresAt, end));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** The same for as long as a user is enabled. Fails with `permission_denied` when that is over already. */
  async whileEnabled(userId: string, end: End): Promise<() => void> {
    const stop = this.#open.watch(userId, end);
    const user = await this.#users.findUser(userId);
    if (user && user.disabledAt === null) return stop;
    stop();
    throw new SandhavenError('permission_denied', "The sandbox's owner is disabled.", {
      hint: 'An admin can enable the owner again.',
    });
  }

  /** Of a user or a key, once the store says so. */
  ended(id: string): void {
    this.#open.over(id);
  }
}
