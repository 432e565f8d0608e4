/**
 * Ends open work when its key expires or is revoked, or its user is disabled, and work in a user's sandboxes when the
 * user is disabled. The store refuses new work.
 */
import { at } from '../../concurrency/deadline.ts';
import { mapBounded } from '../../concurrency/in-portions.ts';
import { SandhavenError } from '../../model/errors.ts';
import { isGrantId, isSignInId, isTeamId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { isSandboxTokenId } from '../../model/sandbox-access.ts';
import { type Membership, membershipId, readingId } from '../../model/team.ts';
import type { Caller } from '../../model/user.ts';
import type {
  Clock,
  KeyStore,
  OAuthStore,
  Replicas,
  SignInStore,
  TeamStore,
  UserStore,
} from '../ports/index.ts';

export interface CallerRightsStore {
  users: Pick<UserStore, 'findUser'>;
  keys: Pick<KeyStore, 'find'>;
  signIns: Pick<SignInStore, 'findSignIn'>;
  oauth: Pick<OAuthStore, 'findGrant'>;
  teams: Pick<TeamStore, 'find' | 'membership'>;
}

type Holder = Pick<Caller, 'id' | 'keyId' | 'keyExpiresAt' | 'team'>;

export class CallerRights {
  readonly #store: CallerRightsStore;
  readonly #clock: Clock;
  readonly #open: OpenEnds;

  constructor(store: CallerRightsStore, clock: Clock, replicas?: Pick<Replicas, 'tell' | 'onTold'>) {
    this.#store = store;
    this.#clock = clock;
    this.#open = new OpenEnds(replicas);
  }

  /**
   * Calls `end` once the key is revoked or expires, its user is disabled, or the user's role in the team acted for is over,
   * or in the service where an admin reads inside; never after a call of the returned function.
   */
  whileValid({ id, keyId, keyExpiresAt, team }: Holder, end: End): () => void {
    const stops = [
      this.#open.watch(id, end, this.#userRight(id)),
      this.#open.watch(keyId, end, this.#keyRight(keyId)),
    ];
    if (team?.asAdmin) stops.push(this.#open.watch(readingId(id), end, this.#adminRight(id)));
    else if (team) stops.push(this.#open.watch(membershipId(team.id, id), end, this.#teamRight(team, id)));
    if (keyExpiresAt !== null) stops.push(at(this.#clock, keyExpiresAt, end));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /**
   * Resolves to false once the key is revoked, or its user is disabled. The time of its expiry is the caller's to watch.
   */
  async isValid({ id, keyId }: Pick<Caller, 'id' | 'keyId'>): Promise<boolean> {
    const rights = [this.#userRight(id), this.#keyRight(keyId)];
    return (await Promise.all(rights.map((right) => right.holds()))).every(Boolean);
  }

  /**
   * Calls `end` when the owner is disabled or becomes a viewer. Rejects with `permission_denied` when that is so already: a
   * visitor of a gateway may do all that an owner may.
   */
  async whileEnabled(userId: string, end: End): Promise<() => void> {
    const stop = this.whileOwner(userId, end);
    if (await this.#ownerRight(userId).holds()) return stop;
    stop();
    throw await this.#noOwner(userId);
  }

  /** Calls `end` when a user or team may no longer own sandboxes; never after a call of the returned function. */
  whileOwner(ownerId: string, end: End): () => void {
    return this.#open.watch(ownerId, end, this.#ownerRight(ownerId));
  }

  /** Ends the open work of a user, a key, a sign-in or a grant, after the store has recorded the end. */
  ended(id: string): void {
    this.#open.over(id);
  }

  /** Ends open work whose key or user has ended unheard. Rejects when the store cannot be read. */
  recheck(): Promise<void> {
    return this.#open.recheck();
  }

  endAll(): void {
    this.#open.endAll();
  }

  #userRight(id: string): Right {
    if (isTeamId(id)) return this.#ownerRight(id);
    return {
      name: id,
      holds: async () => {
        const user = await this.#store.users.findUser(id);
        return user !== null && user.disabledAt === null;
      },
    };
  }

  #ownerRight(id: string): Right {
    return {
      name: `owner ${id}`,
      holds: async () => {
        if (isTeamId(id)) return (await this.#store.teams.find(id)) !== null;
        const user = await this.#store.users.findUser(id);
        return user !== null && user.disabledAt === null && user.role !== 'viewer';
      },
    };
  }

  /** A right under one role is none under another. */
  #teamRight({ id, role }: Membership, userId: string): Right {
    return {
      name: `${role} ${membershipId(id, userId)}`,
      holds: async () => (await this.#store.teams.membership(id, userId))?.role === role,
    };
  }

  #adminRight(id: string): Right {
    return {
      name: readingId(id),
      holds: async () => (await this.#store.users.findUser(id))?.role === 'admin',
    };
  }

  async #noOwner(id: string): Promise<SandhavenError> {
    const user = await this.#store.users.findUser(id);
    if (user?.role === 'viewer' && user.disabledAt === null) {
      return new SandhavenError('permission_denied', "The sandbox's owner is a viewer.", {
        hint: 'An admin can give the owner another role.',
      });
    }
    return new SandhavenError('permission_denied', "The sandbox's owner is disabled.", {
      hint: 'An admin can enable the owner again.',
    });
  }

  #keyRight(id: string): Right {
    return {
      name: id,
      holds: async () => {
        if (isSignInId(id)) return (await this.#store.signIns.findSignIn(id, this.#clock.now())) !== null;
        // A preview by a token of a sandbox: its end is one of previews, which who let the visitor in knows.
        if (isSandboxTokenId(id)) return true;
        if (isGrantId(id)) return (await this.#store.oauth.findGrant(id, this.#clock.now())) !== null;
        const key = await this.#store.keys.find(id);
        return key !== null && key.revokedAt === null;
      },
    };
  }
}

/**
 * Registry of open work by the id that permits it, so that it ends with that id. A message ends it at other replicas;
 * one that was missed is made good by reading the rights anew.
 */
export type End = () => void;

/** The right to open work, as the store has it. */
export interface Right {
  /** Rights of one name are read once. */
  name: string;
  /** Resolves to false once the right is over; rejects when the store cannot be read. */
  holds(): Promise<boolean>;
}

interface Open {
  end: End;
  right: Right;
}

export class OpenEnds {
  readonly #open = new Map<string, Set<Open>>();
  readonly #replicas: Pick<Replicas, 'tell' | 'onTold'> | undefined;

  constructor(replicas?: Pick<Replicas, 'tell' | 'onTold'>) {
    this.#replicas = replicas;
    replicas?.onTold('over', (id) => this.#end(id));
  }

  /** Calls `end` once `id` or the right is over; never after a call of the returned function. */
  watch(id: string, end: End, right: Right): () => void {
    const all = this.#open.get(id) ?? new Set<Open>();
    const own = { end, right };
    this.#open.set(id, all.add(own));
    return () => this.#forget(id, all, own);
  }

  /**
   * Ends all work under `id`, at every replica, after the store has recorded that `id` is over. The second pass, one turn of the event
   * loop later, ends work that was being admitted at that moment.
   */
  over(id: string): void {
    this.#replicas?.tell('over', id);
    this.#end(id);
    setImmediate(() => this.#end(id));
  }

  /** Reads the right of all open work anew, and ends what has none. Rejects when the store cannot be read. */
  async recheck(): Promise<void> {
    const byRight = new Map<string, { right: Right; works: (() => void)[] }>();
    for (const [id, all] of this.#open) {
      for (const own of all) {
        const same = byRight.get(own.right.name) ?? { right: own.right, works: [] };
        byRight.set(own.right.name, same);
        same.works.push(() => this.#forget(id, all, own) && own.end());
      }
    }
    await mapBounded([...byRight.values()], limits.replicas.recheckedAtOnce, async ({ right, works }) => {
      if (await right.holds()) return;
      for (const end of works) end();
    });
  }

  /** Ends all open work, whatever its right. */
  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  #end(id: string): void {
    const all = this.#open.get(id);
    this.#open.delete(id);
    for (const own of all ?? []) own.end();
  }

  /** Returns false for work that has left, or was ended, before. */
  #forget(id: string, all: Set<Open>, own: Open): boolean {
    const wasOpen = this.#open.get(id) === all && all.has(own);
    all.delete(own);
    if (all.size === 0 && this.#open.get(id) === all) this.#open.delete(id);
    return wasOpen;
  }
}
