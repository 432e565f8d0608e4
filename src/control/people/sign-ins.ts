/**
 * Sign-ins of browsers: opened by an API key, by a one-time link or by the identity provider, used by a cookie. Whoever has signed in is a caller
 * like the owner of a key; the id of the sign-in stands in place of the key's.
 */
import { hash as digest } from 'node:crypto';
import type { IdentityProviderSession } from '../../model/access/identity.ts';
import { fresh, isLive, judge, type SignIn, type SignInTokens } from '../../model/access/sign-ins.ts';
import type { Maker } from '../../model/access/ways-in.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { isSignInId, newSignInId, newSignInToken } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { withinScopes } from '../../model/scopes.ts';
import type { Account, Caller } from '../../model/user.ts';
import { concernsUser } from '../audit/scope.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import { KeyUse } from '../callers/identity.ts';
import type { Clock, KeyStore, Page, SignInStore } from '../ports/index.ts';
import type { UserService } from './users.ts';

export interface SignInDependencies {
  store: SignInStore;
  keys: Pick<KeyStore, 'callerOf'>;
  users: Pick<UserService, 'find' | 'first'>;
  callerRights: Pick<CallerRights, 'ended'>;
  clock: Clock;
}

export interface Opened {
  caller: Caller;
  signIn: SignIn;
  /** Secret for the cookie; null: the browser keeps the one that it has. */
  token: string | null;
}

interface Opening extends Pick<SignIn, 'keyId' | 'madeBy'> {
  endsAt: number | null;
  scopes: Caller['scopes'];
}

const plain: Opening = { keyId: null, madeBy: null, endsAt: null, scopes: null };

export class SignInService {
  readonly #deps: SignInDependencies;
  readonly #use: KeyUse;
  #url = '';

  constructor(dependencies: SignInDependencies) {
    this.#deps = dependencies;
    const { store, clock } = dependencies;
    this.#use = new KeyUse({ touch: (used) => store.touchSignIns(used) }, clock);
  }

  /** Rejects with `unauthenticated` for an invalid key. */
  async openWithKey(apiKey: string): Promise<Opened> {
    const { keys, clock } = this.#deps;
    const caller = await keys.callerOf(apiKey, clock.now());
    if (!caller) throw refused('The API key is not valid.');
    if (caller.boundTo !== undefined) throw refused('The API key is bound to a team, and signs nobody in.');
    const { keyId, keyExpiresAt: endsAt, keyMadeBy: madeBy = null, scopes } = caller;
    return this.#open(caller, { keyId, madeBy, endsAt, scopes });
  }

  /** Uses the ticket of a one-time link up. Rejects with `unauthenticated` for one that is unknown, used or over. */
  async openWithTicket(ticket: string): Promise<Opened> {
    const { store, users, clock } = this.#deps;
    const link = await store.takeLink(hashOf(ticket), clock.now());
    const user = link && (await users.find(link.userId));
    if (!user || user.disabledAt !== null) throw refused('The link was used already, or is over.');
    return this.#open(user, { ...plain, madeBy: link.createdBy });
  }

  /** Opens one for a user who was recognized by a way in of their own. */
  openFor(user: Pick<Account, 'id' | 'name' | 'email' | 'role'>): Promise<Opened> {
    return this.#open(user, plain);
  }

  /** Signs in as a user whom the identity provider has just confirmed. Ends with that session. */
  openWithIdentity(user: Account, { issuer, subject, sid }: IdentityProviderSession): Promise<Opened> {
    const session = { issuer, subject, sid };
    return this.#open(user, plain, session);
  }

  /** Returns null for a token that opens nothing. Gives a new one once the old one has its age. */
  async authenticate(cookie: string): Promise<Opened | null> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const [id = '', token = ''] = cookie.split('.');
    const found = isSignInId(id) ? await store.findSignIn(id, now) : null;
    if (!found || !isLive(found.signIn, now)) return null;
    const { signIn, tokens, user, scopes } = found;
    const verdict = judge(tokens, hashOf(token), now);
    if (verdict.kind === 'stolen') await this.#remove(id, signIn.userId);
    if (verdict.kind === 'stolen' || verdict.kind === 'unknown') return null;
    // Of requests side by side one replaces the tokens; the others go on with what they have.
    if (verdict.kind === 'confirmed') await store.replaceTokens(id, tokens, verdict.tokens);
    await this.#use.note(id);
    return {
      caller: callerOf(user, signIn, scopes),
      signIn,
      token: verdict.kind === 'due' ? await this.#offer(id, tokens, now) : null,
    };
  }

  /**
   * Makes a one-time link for a user. The ticket is in its fragment, which no server and no log gets to see. Rejects with
   * `permission_denied` where the maker only invites, and the user has had a way in.
   * @param by null: the user, or the service for the first one.
   */
  async createLink(userId: string, by: Maker | null): Promise<{ url: string; expiresAt: number }> {
    const ticket = newSignInToken();
    const now = this.#deps.clock.now();
    const expiresAt = now + limits.signIn.linkMs;
    await this.#deps.store.addLink(hashOf(ticket), userId, { now, expiresAt, by });
    return { url: `${this.#url}/#ticket=${ticket}`, expiresAt };
  }

  /** Makes a link for the first user while nobody is signed in; null afterwards. */
  async firstLink(): Promise<string | null> {
    const { totalCount } = await this.#deps.store.listSignIns(null, { page: 1, pageSize: 1 });
    const user = totalCount > 0 ? null : await this.#deps.users.first();
    return user && (await this.createLink(user.id, null)).url;
  }

  /** @param url Origin of the page. */
  servedAt(url: string): void {
    this.#url = url.replace(/\/+$/, '');
  }

  /** @param userId null: of all users. */
  async list(userId: string | null, page: Page): Promise<{ signIns: SignIn[]; totalCount: number }> {
    await this.#use.flush();
    return this.#deps.store.listSignIns(userId, page);
  }

  /** Ends a sign-in and its open work, also one of a disabled user. A member gets `not_found` for another user's. */
  async revoke(caller: Caller, id: string): Promise<SignIn> {
    const owner = caller.role === 'admin' ? null : caller.id;
    const removed = isSignInId(id) ? await this.#remove(id, owner) : null;
    if (removed) concernsUser(removed.userId);
    if (removed) return removed;
    throw notFound('sign_in', `There is no sign-in '${id.slice(0, 100)}'.`, 'ListSignIns shows them.');
  }

  /** Ends all sign-ins of a user but the caller's own, and their open work. Returns how many. */
  async revokeOthers(caller: Caller, userId: string): Promise<number> {
    const ended = await this.#deps.store.removeOtherSignIns(userId, caller.keyId);
    for (const id of ended) this.#deps.callerRights.ended(id);
    return ended.length;
  }

  flush(): Promise<void> {
    return this.#use.flush();
  }

  /** Removes what is over. */
  prune(): Promise<void> {
    const now = this.#deps.clock.now();
    return this.#deps.store.pruneSignIns(now, now - limits.signIn.idleMs);
  }

  async #open(
    user: Pick<Account, 'id' | 'name' | 'email' | 'role'>,
    { keyId, madeBy, endsAt, scopes }: Opening,
    session?: IdentityProviderSession,
  ): Promise<Opened> {
    const { store, callerRights, clock } = this.#deps;
    const now = clock.now();
    const expiresAt = Math.min(now + limits.signIn.wholeMs, endsAt ?? Number.POSITIVE_INFINITY);
    const times = { createdAt: now, lastUsedAt: now, expiresAt };
    const signIn: SignIn = { id: newSignInId(), userId: user.id, keyId, madeBy, ...times };
    const token = newSignInToken();
    const ended = await store.addSignIn(signIn, fresh(hashOf(token), now), session);
    for (const id of ended) callerRights.ended(id);
    return { caller: callerOf(user, signIn, scopes), signIn, token };
  }

  /** Returns null where another request has offered a token a moment ago. */
  async #offer(id: string, tokens: SignInTokens, now: number): Promise<string | null> {
    const token = newSignInToken();
    const offered = { ...tokens, nextHash: hashOf(token), nextAt: now };
    return (await this.#deps.store.replaceTokens(id, tokens, offered)) ? token : null;
  }

  /** @param owner Whose alone it may be; null: anybody's. */
  async #remove(id: string, owner: string | null): Promise<SignIn | null> {
    const removed = await this.#deps.store.removeSignIn(id, owner);
    if (removed) this.#deps.callerRights.ended(id);
    return removed;
  }
}

function callerOf(
  { id, name, email, role }: Pick<Account, 'id' | 'name' | 'email' | 'role'>,
  { id: signInId, madeBy, expiresAt }: SignIn,
  scopes: Caller['scopes'],
): Caller {
  const made = madeBy === null ? {} : { keyMadeBy: madeBy };
  return withinScopes({ id, name, email, role, keyId: signInId, keyExpiresAt: expiresAt, scopes, ...made });
}

function hashOf(token: string): Buffer {
  return digest('sha256', token, 'buffer');
}

function refused(what: string): SandhavenError {
  return new SandhavenError('unauthenticated', what, {
    hint: 'Sign in with an API key, or with a new link: `sandhaven sign-ins link` prints one.',
  });
}
