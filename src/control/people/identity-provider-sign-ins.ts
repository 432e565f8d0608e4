/**
 * Signing in by the team's identity provider. A browser begins here, signs in there, and comes back with a code; the
 * provider's claims then decide who it is and what it may do. Reports of the provider end sign-ins.
 */
import { createCipheriv, createDecipheriv, hash as digest, randomBytes } from 'node:crypto';
import { Shares } from '../../fairness/shares.ts';
import { type AdmissionRules, admit } from '../../model/access/admission.ts';
import { CALLBACK_PATH, type SignInProof } from '../../model/access/identity.ts';
import { parseReturnPath } from '../../model/access/sign-ins.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newSignInToken } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { networkOf } from '../../model/network/arrival.ts';
import type { Caller } from '../../model/user.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { Clock, IdentityProvider, IdentityStore } from '../ports/index.ts';
import { type ArrivalStore, arrive } from './arrivals.ts';
import type { Opened, SignInService } from './sign-ins.ts';

export interface IdentityProviderSignInDependencies {
  provider: IdentityProvider;
  rules: AdmissionRules;
  /** Key that all replicas seal pending sign-ins with. */
  key: Buffer;
  store: ArrivalStore & { identities: Pick<IdentityStore, 'removeSignInsOf' | 'useOnce'> };
  signIns: Pick<SignInService, 'openWithIdentity'>;
  callerRights: Pick<CallerRights, 'ended'>;
  clock: Clock;
}

export interface Begun {
  /** Page of the provider. */
  url: string;
  /** Value of the browser's cookie, and its time to live. */
  cookie: string;
  seconds: number;
}

export interface Finished {
  opened: Opened;
  returnPath: string;
}

export class IdentityProviderSignIns {
  readonly #deps: IdentityProviderSignInDependencies;
  #origin = '';
  readonly #exchanges = sharesOf('sign-ins are at work with the identity provider');
  /** Of their own: strangers' logout tokens take no place of a sign-in. */
  readonly #logouts = sharesOf('logouts are at work with the identity provider');

  constructor(dependencies: IdentityProviderSignInDependencies) {
    this.#deps = dependencies;
  }

  get name(): string {
    return this.#deps.provider.name;
  }

  get issuer(): string {
    return this.#deps.provider.issuer;
  }

  /** @param url Origin of the page, at which the provider sends browsers back. */
  servedAt(url: string): void {
    this.#origin = url.replace(/\/+$/, '');
  }

  /**
   * Begins a sign-in. Rejects with `invalid_argument` for a return path that is none of the page, with
   * `failed_precondition` at another origin, whose cookie would not come back.
   * @param address Of the client, here and below: its network has a share of the requests to the provider.
   */
  async begin(address: string, origin: string, returnPath: string): Promise<Begun> {
    const { provider, key, clock } = this.#deps;
    const path = parseReturnPath(returnPath);
    if (origin !== this.#origin) throw elsewhere(this.#origin);
    const proof: SignInProof = {
      state: newSignInToken(),
      nonce: newSignInToken(),
      verifier: newSignInToken(),
    };
    const url = await within(this.#exchanges, address, () => provider.begin(this.#callbackUrl(), proof));
    const { pendingMs } = limits.identity;
    const expiresAt = clock.now() + pendingMs;
    const cookie = sealPending(key, { ...proof, issuer: provider.issuer, returnPath: path, expiresAt });
    return { url, cookie, seconds: pendingMs / 1_000 };
  }

  /**
   * Signs the browser in that comes back. Its cookie proves that it has begun here; its state works once.
   * @param query The query of its request, as it came.
   * @param signedIn Whom the browser is signed in as; null: nobody.
   */
  async finish(
    address: string,
    cookie: string | null,
    query: string,
    signedIn: Caller | null,
  ): Promise<Finished> {
    const { provider, rules, key, store, signIns, callerRights, clock } = this.#deps;
    const pending = openPending(key, cookie, clock.now());
    const returned = query.length <= limits.identity.queryChars ? new URLSearchParams(query) : null;
    const isOwn = pending?.issuer === provider.issuer && returned?.getAll('state').join() === pending.state;
    if (!pending || !returned || !isOwn) throw notBegunHere();
    const proof = { hash: hashOf('state', pending.state), expiresAt: pending.expiresAt, now: clock.now() };
    if (!(await store.identities.useOnce(proof))) throw notBegunHere();
    const url = new URL(`${this.#callbackUrl()}?${returned}`);
    const claims = await within(this.#exchanges, address, () => provider.finish(url, pending));
    const role = admit(claims, rules);
    const user = await arrive(store, claims, { role, signedIn, callerRights, now: clock.now() });
    const opened = await signIns.openWithIdentity(user, claims);
    return { opened, returnPath: pending.returnPath };
  }

  /**
   * Ends the sign-ins that a logout token of the provider names, and their open work; returns their number. Rejects with
   * `invalid_argument` for a token that is not valid, or came before.
   */
  async logOut(address: string, token: string): Promise<number> {
    const { provider, store, callerRights, clock } = this.#deps;
    const logout = await within(this.#logouts, address, () => provider.readLogout(token));
    const { issuer, tokenId, expiresAt } = logout;
    const proof = { hash: hashOf('logout', `${issuer} ${tokenId}`), expiresAt, now: clock.now() };
    const ended = await store.identities.removeSignInsOf(logout, proof);
    if (ended === null) throw repeated();
    for (const id of ended) callerRights.ended(id);
    return ended.length;
  }

  #callbackUrl(): string {
    return this.#origin + CALLBACK_PATH;
  }
}

function hashOf(kind: string, text: string): Buffer {
  return digest('sha256', `${kind} ${text}`, 'buffer');
}

function notBegunHere(): SandhavenError {
  return new SandhavenError(
    'unauthenticated',
    'This browser has not begun the sign-in, its ten minutes are over, or it was used already.',
    { hint: 'Sign in again from the page, in one window.' },
  );
}

function elsewhere(origin: string): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `The identity provider sends browsers back to ${origin}.`,
    {
      hint: `Open ${origin} and sign in there. The operator sets another name with --public-url.`,
    },
  );
}

function repeated(): SandhavenError {
  return new SandhavenError('invalid_argument', 'The logout token came before.', {
    parameter: 'logout_token',
  });
}

function sharesOf(what: string): Shares {
  const { exchanges: total, exchangesPerNetwork: perOwner } = limits.identity;
  return new Shares({ total, perOwner, what });
}

/** Does work with the provider in the share of the client's network: nobody is known yet. */
async function within<T>(shares: Shares, address: string, work: () => Promise<T>): Promise<T> {
  const release = shares.take(networkOf(address));
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * A sign-in under way at the identity provider, sealed into a cookie of the browser that began it: no replica keeps
 * anything, and whoever begins many fills nothing.
 */
interface PendingSignIn extends SignInProof {
  /** Provider that it began at: the operator may have changed it since. */
  issuer: string;
  /** Path of the page. */
  returnPath: string;
  expiresAt: number;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = Buffer.from('pending sign-in');

/** @param key 32 bytes that all replicas have, for this purpose alone. */
function sealPending(key: Buffer, pending: PendingSignIn): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(PURPOSE);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(pending)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Returns null for anything that was not sealed here, or is over. */
function openPending(key: Buffer, cookie: string | null, now: number): PendingSignIn | null {
  if (cookie === null || cookie.length > limits.identity.cookieChars) return null;
  const box = Buffer.from(cookie, 'base64url');
  if (box.length <= NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, box.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(PURPOSE).setAuthTag(box.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(box.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    const pending = JSON.parse(text.toString('utf8')) as PendingSignIn;
    return pending.expiresAt > now ? pending : null;
  } catch {
    return null;
  }
}
