/**
 * Ends open work when its key expires or is revoked, or its user is disabled, and work in a user's sandboxes when the
 * user is disabled. The store refuses new work.
 */

import { at } from '../../concurrency/deadline.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';
import { type End, OpenEnds } from '../access/open-ends.ts';
import type { Clock, Replicas, UserStore } from '../ports/index.ts';

export class Standing {
  readonly #users: Pick<UserStore, 'findUser'>;
  readonly #clock: Clock;
  readonly #open: OpenEnds;

  constructor(
    users: Pick<UserStore, 'findUser'>,
    clock: Clock,
    replicas?: Pick<Replicas, 'tell' | 'onTold'>,
  ) {
    this.#users = users;
    this.#clock = clock;
    this.#open = new OpenEnds(replicas);
  }

  /**
   * Calls `end` once the key is revoked or expires, or its user is disabled; never after a call of the returned
   * function.
   */
  whileValid({ id, keyId, keyExpiresAt }: Caller, end: End): () => void {
    const stops = [this.#open.watch(id, end), this.#open.watch(keyId, end)];
    if (keyExpiresAt !== null) stops.push(at(this.#clock, keyExpiresAt, end));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Calls `end` when the user is disabled. Rejects with `permission_denied` when the user is disabled already. */
  async whileEnabled(userId: string, end: End): Promise<() => void> {
    const stop = this.#open.watch(userId, end);
    const user = await this.#users.findUser(userId);
    if (user && user.disabledAt === null) return stop;
    stop();
    throw new SandhavenError('permission_denied', "The sandbox's owner is disabled.", {
      hint: 'An admin can enable the owner again.',
    });
  }

  /** Ends the open work of a user or a key, after the store has recorded the end. */
  ended(id: string): void {
    this.#open.over(id);
  }
}
