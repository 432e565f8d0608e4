/** Ways in of users in memory: each store in memory counts its own, for the users that they share. */
import type { UserStore } from '../../../src/control/ports/index.ts';
import { assertInvitable, type Maker, type WaysIn } from '../../../src/model/access/ways-in.ts';

type Kind = Exclude<keyof WaysIn, 'enteredAt'>;

class MemoryWaysIn {
  readonly #entered = new Map<string, number>();
  readonly #counts: Record<Kind, (userId: string, now: number) => number> = {
    keys: () => 0,
    links: () => 0,
    identities: () => 0,
  };

  count(kind: Kind, count: (userId: string, now: number) => number): void {
    this.#counts[kind] = count;
  }

  enter(userId: string, now: number): void {
    if (!this.#entered.has(userId)) this.#entered.set(userId, now);
  }

  forget(userId: string): void {
    this.#entered.delete(userId);
  }

  assert(by: Maker | null | undefined, userId: string, now: number): void {
    if (!by?.invites) return;
    const { keys, links, identities } = this.#counts;
    const counts = {
      keys: keys(userId, now),
      links: links(userId, now),
      identities: identities(userId, now),
    };
    assertInvitable({ enteredAt: this.#entered.get(userId) ?? null, ...counts });
  }
}

const known = new WeakMap<UserStore, MemoryWaysIn>();

export function memoryWaysIn(users: UserStore): MemoryWaysIn {
  const ways = known.get(users) ?? new MemoryWaysIn();
  known.set(users, ways);
  return ways;
}
