/**
 * Who may go on. What is open for a key ends when the key is over, and what is open in a user's sandboxes when the user
 * is disabled; that nothing new is let in is for the store to say.
 */
import { SandhavenError } from '../model/errors.ts';
import type { Caller } from '../model/user.ts';
import { at } from './deadline.ts';
import type { Clock, UserStore } from './ports.ts';

type End = () => void;

export class Standing {
  readonly #users: Pick<UserStore, 'findUser'>;
  readonly #clock: Clock;
  readonly #open = new Map<string, Set<End>>();

  constructor(users: Pick<UserStore, 'findUser'>, clock: Clock) {
    this.#users = users;
    this.#clock = clock;
  }

  /**
   * Calls `end` once the key is revoked or expires, or its user is disabled; not after the returned function was
   * called.
   */
  whileValid({ id, keyId, keyExpiresAt }: Caller, end: End): () => void {
    const stops = [this.#watch(id, end), this.#watch(keyId, end)];
    if (keyExpiresAt !== null) stops.push(at(this.#clock, keyExpiresAt, end));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** The same for as long as a user is enabled. Fails with `permission_denied` when that is over already. */
  async whileEnabled(userId: string, end: End): Promise<() => void> {
    const stop = this.#watch(userId, end);
    const user = await this.#users.findUser(userId);
    if (user && user.disabledAt === null) return stop;
    stop();
    throw new SandhavenError('permission_denied', "The sandbox's owner is disabled.", {
      hint: 'An admin can enable the owner again.',
    });
  }

  /**
   * Of a user or a key, once the store says so. Whoever was being let in at that moment is there a turn of the event loop
   * later.
   */
  ended(id: string): void {
    this.#end(id);
    setImmediate(() => this.#end(id));
  }

  #watch(id: string, end: End): () => void {
    const all = this.#open.get(id) ?? new Set<End>();
    const own = () => end();
    this.#open.set(id, all.add(own));
    return () => {
      all.delete(own);
      if (all.size === 0 && this.#open.get(id) === all) this.#open.delete(id);
    };
  }

  #end(id: string): void {
    const all = this.#open.get(id);
    this.#open.delete(id);
    for (const end of all ?? []) end();
  }
}
