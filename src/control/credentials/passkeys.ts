/** Passkeys of users: added by who is signed in, and opening sign-ins without a name or a password. */
import { hash } from 'node:crypto';
import {
  type Challenge,
  issueChallenge,
  type Passkey,
  type PasskeySite,
  passkeySite,
  readChallenge,
} from '../../model/access/passkeys.ts';
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { newPasskeyId } from '../../model/ids.ts';
import type { Caller } from '../../model/user.ts';
import { concernsUser } from '../audit/scope.ts';
import type { KeyService } from '../people/keys.ts';
import type { Opened, SignInService } from '../people/sign-ins.ts';
import type { UserService } from '../people/users.ts';
import type { AddingAnswer, PasskeyStore, PasskeyVerifier, SigningAnswer } from '../ports/index.ts';
import { assertWayLeft, type FreshSignIns, type Ways } from './safeguards.ts';

export interface PasskeyDependencies {
  store: PasskeyStore;
  users: Pick<UserService, 'find'>;
  owners: Pick<KeyService, 'ownerOf'>;
  signIns: Pick<SignInService, 'openFor'>;
  fresh: FreshSignIns;
  ways: Ways;
  verifier: PasskeyVerifier;
  /** Secret, and the same for all replicas. */
  challengeKey: Buffer;
}

/** Options for the browser, and the cookie that its answer comes with. */
export interface Question {
  options: object;
  cookie: string;
}

/** Page that asks, and its cookie. */
export interface Asking {
  origin: string;
  cookie: string | null;
}

const SIGNING_IN = 'sign in';

export class PasskeyService {
  readonly #deps: PasskeyDependencies;
  #site: PasskeySite | null = null;

  constructor(dependencies: PasskeyDependencies) {
    this.#deps = dependencies;
  }

  /** @param url Origin of the page. */
  servedAt(url: string): void {
    this.#site = passkeySite(url);
  }

  /** @returns true where this page can ask for a passkey */
  isOfferedAt(origin: string): boolean {
    return this.#site !== null && passkeySite(origin)?.origin === this.#site.origin;
  }

  async askToSignIn(origin: string): Promise<Question> {
    const site = this.#siteAt(origin);
    const { challenge, cookie } = this.#challenge(SIGNING_IN);
    return { options: await this.#deps.verifier.askToSign(site, challenge.text), cookie };
  }

  /** Rejects with `unauthenticated`, alike for all that may be wrong. */
  async signIn({ origin, cookie }: Asking, answer: SigningAnswer): Promise<Opened> {
    const { store, users, signIns, verifier, ways } = this.#deps;
    const site = this.#siteAt(origin);
    const challenge = this.#answered(SIGNING_IN, cookie);
    const passkey = challenge && (await store.findCredential(answer.id));
    if (!passkey || userOf(answer) !== passkey.userId) throw refused();
    const signed = await verifier.signed(site, challenge.text, answer, passkey);
    const user = signed && (await users.find(passkey.userId));
    if (!user || user.disabledAt !== null || !(await this.#useUp(challenge))) throw refused();
    if (!(await store.usePasskey(passkey.id, signed.counter, ways.clock.now()))) throw refused();
    return signIns.openFor(user);
  }

  async askToAdd(caller: Caller, origin: string): Promise<Question> {
    const { store, fresh, verifier } = this.#deps;
    const site = this.#siteAt(origin);
    await fresh.assert(caller);
    const { challenge, cookie } = this.#challenge(adding(caller));
    const known = await store.listPasskeys(caller.id);
    return { options: await verifier.askToAdd(site, caller, challenge.text, known), cookie };
  }

  /** Rejects with `invalid_argument` for an answer that does not hold. */
  async add(
    caller: Caller,
    { origin, cookie }: Asking,
    { name, answer }: { name: string; answer: AddingAnswer },
  ): Promise<Passkey> {
    const { store, fresh, verifier, ways } = this.#deps;
    const site = this.#siteAt(origin);
    await fresh.assert(caller);
    const challenge = this.#answered(adding(caller), cookie);
    const made = challenge && (await verifier.added(site, challenge.text, answer));
    if (!made || !(await this.#useUp(challenge))) throw unusable();
    const owner = { id: newPasskeyId(), userId: caller.id, name, rpId: site.rpId };
    const passkey = { ...owner, ...made, createdAt: ways.clock.now(), lastUsedAt: null };
    await store.addPasskey(passkey);
    return passkey;
  }

  /** @param user By default the caller; another one for admins. */
  async list(caller: Caller, user: string | undefined): Promise<Passkey[]> {
    const { id } = await this.#deps.owners.ownerOf(caller, user ?? caller.id);
    return this.#deps.store.listPasskeys(id);
  }

  /** Renames one of the caller's own. */
  async rename(caller: Caller, id: string, name: string): Promise<Passkey> {
    const passkey = await this.#find(caller, id);
    const renamed = passkey.userId === caller.id ? await this.#deps.store.renamePasskey(id, name) : null;
    if (!renamed) throw unknown(id);
    return renamed;
  }

  /** Removes one of the caller's own or, for an admin, any. */
  async remove(caller: Caller, id: string): Promise<Passkey> {
    const { store, fresh, ways } = this.#deps;
    const passkey = await this.#find(caller, id);
    await fresh.assertMayRemove(caller);
    concernsUser(passkey.userId);
    await assertWayLeft(ways, caller, { userId: passkey.userId, without: 'passkey' });
    if (!(await store.removePasskey(id))) throw unknown(id);
    return passkey;
  }

  /** A member gets `not_found` for another user's. */
  async #find(caller: Caller, id: string): Promise<Passkey> {
    const passkey = await this.#deps.store.findPasskey(id);
    if (passkey && (passkey.userId === caller.id || caller.role === 'admin')) return passkey;
    throw unknown(id);
  }

  #challenge(about: string) {
    return issueChallenge(this.#deps.challengeKey, about, this.#deps.ways.clock.now());
  }

  #answered(about: string, cookie: string | null): Challenge | null {
    return readChallenge(this.#deps.challengeKey, about, cookie, this.#deps.ways.clock.now());
  }

  /** Strangers never come here, so they fill no table. */
  #useUp({ text, expiresAt }: Challenge): Promise<boolean> {
    const { store, ways } = this.#deps;
    return store.useChallenge(hash('sha256', text, 'buffer'), expiresAt, ways.clock.now());
  }

  #siteAt(origin: string): PasskeySite {
    if (this.#site !== null && this.isOfferedAt(origin)) return this.#site;
    throw new SandhavenError('failed_precondition', 'Passkeys do not work at this address.', {
      hint:
        this.#site === null
          ? 'The operator gives the service a name and TLS with --public-url: docs/reverse-proxy.md.'
          : `Open ${this.#site.origin}.`,
    });
  }
}

function adding({ keyId }: Caller): string {
  return `add ${keyId}`;
}

/** A passkey that was found by its id has to name the same user itself. */
function userOf({ response: { userHandle } }: SigningAnswer): string {
  return Buffer.from(userHandle ?? '', 'base64url').toString();
}

function refused(): SandhavenError {
  return new SandhavenError('unauthenticated', 'This passkey did not sign in.', {
    hint: 'Try again within five minutes, or sign in with a link or an API key.',
  });
}

function unusable(): SandhavenError {
  return invalidArgument(
    'response',
    'The browser’s answer adds no passkey.',
    'Try again within five minutes, on a device that asks for a fingerprint, a face or a PIN.',
  );
}

function unknown(id: string): SandhavenError {
  return notFound('passkey', `There is no passkey '${id.slice(0, 100)}'.`, 'ListPasskeys shows them.');
}
