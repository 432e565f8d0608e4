/** Composition of the ways in beside keys and links: passkeys and passwords. */
import { Buckets } from '../../fairness/rate.ts';
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { networkOf } from '../../model/network/arrival.ts';
import type { Caller } from '../../model/user.ts';
import type { KeyService } from '../people/keys.ts';
import type { People } from '../people/people.ts';
import type { Opened, SignInService } from '../people/sign-ins.ts';
import type { UserService } from '../people/users.ts';
import type { Clock, PasskeyVerifier, PasswordOwner, PasswordStore, Store } from '../ports/index.ts';
import { PasskeyService } from './passkeys.ts';
import { PasswordHashes } from './password-hashes.ts';
import { assertWayLeft, FreshSignIns, type Ways } from './safeguards.ts';

export interface CredentialDependencies {
  store: Pick<Store, 'passkeys' | 'passwords' | 'keys' | 'identities' | 'signIns' | 'replicas'>;
  people: { users: UserService; keys: KeyService; signIns: SignInService } & Pick<
    People,
    'identityProviderSignIns'
  >;
  verifier: PasskeyVerifier;
  /** Secret, and the same for all replicas. */
  challengeKey: Buffer;
  /** true: the service takes passwords. */
  takesPasswords: boolean;
  hashes?: PasswordHashes;
  clock: Clock;
}

export interface Credentials {
  passkeys: PasskeyService;
  passwords: PasswordService;
}

export function createCredentials({
  store,
  people,
  verifier,
  challengeKey,
  takesPasswords,
  hashes = new PasswordHashes(),
  clock,
}: CredentialDependencies): Credentials {
  const { users, keys: owners, signIns } = people;
  const fresh = new FreshSignIns(store.signIns, clock);
  const ways = { ...store, issuer: people.identityProviderSignIns?.issuer ?? null, takesPasswords, clock };
  const common = { owners, signIns, fresh, ways };
  return {
    passkeys: new PasskeyService({ ...common, store: store.passkeys, users, verifier, challengeKey }),
    passwords: new PasswordService({ ...common, store: store.passwords, hashes, replicas: store.replicas }),
  };
}

// Passwords, where the operator takes them. A password signs nobody in who has a passkey. Every attempt is answered alike, after
// the same work: whether the user is there, has a password, has a passkey or typed a wrong one.

export interface PasswordDependencies {
  store: PasswordStore;
  owners: Pick<KeyService, 'ownerOf'>;
  signIns: Pick<SignInService, 'openFor'>;
  fresh: FreshSignIns;
  ways: Ways;
  hashes: PasswordHashes;
  /** Each allows its part of the attempts. */
  replicas: { readonly count: number };
}

const { rate, names, charsMin, bytesMax } = limits.passwords;

export class PasswordService {
  readonly #deps: PasswordDependencies;
  /** Attempts by the name that was typed, whoever has it: so users who are not there are slowed alike. */
  readonly #attempts: Buckets;
  /** Changes by user: one who changes theirs all the time would take the places of those who sign in. */
  readonly #changes: Buckets;

  constructor(dependencies: PasswordDependencies) {
    this.#deps = dependencies;
    this.#attempts = new Buckets(rate, names, dependencies.replicas);
    this.#changes = new Buckets(rate, names, dependencies.replicas);
  }

  get isTaken(): boolean {
    return this.#deps.ways.takesPasswords;
  }

  /**
   * Rejects with `unauthenticated`, and with `resource_exhausted` for a name that many strangers try.
   * @param address Of the client: networks that the user has signed in from are not slowed by strangers.
   */
  async signIn(
    { user: typed, password }: { user: string; password: string },
    address: string,
  ): Promise<Opened> {
    this.#assertTaken();
    const { store, hashes, signIns, ways } = this.#deps;
    const network = networkOf(address);
    const owner = meant(await store.findPasswordOwners(typed), typed);
    const isStranger = !owner?.networks.includes(network);
    if (isStranger) count(this.#attempts, typed.toLowerCase(), ways.clock.now());
    const isRight = await hashes.matches(password, owner?.hash ?? null, isStranger);
    if (!owner || !isRight || owner.hasPasskey || owner.user.disabledAt !== null) throw refused();
    if (owner.networks[0] !== network) await store.noteNetwork(owner.user.id, network);
    return signIns.openFor(owner.user);
  }

  /** Sets the caller's own. Rejects with `invalid_argument` for one that is too short or too long. */
  async set(caller: Caller, password: string): Promise<void> {
    this.#assertTaken();
    const { store, hashes, fresh, ways } = this.#deps;
    assertStrong(password);
    await fresh.assert(caller);
    count(this.#changes, caller.id, ways.clock.now());
    const hash = await hashes.hash(password);
    await store.setPassword(caller.id, hash, ways.clock.now());
  }

  /** Returns the time of the last change; null without a password. */
  async changedAt(caller: Caller, user: string | undefined): Promise<number | null> {
    const { id } = await this.#deps.owners.ownerOf(caller, user ?? caller.id);
    return this.#deps.store.passwordChangedAt(id);
  }

  /** Removes the caller's own or, for an admin, anybody's. Returns the id of its user. */
  async remove(caller: Caller, user: string | undefined): Promise<string> {
    const { store, owners, fresh, ways } = this.#deps;
    const { id } = await owners.ownerOf(caller, user ?? caller.id);
    await fresh.assertMayRemove(caller);
    await assertWayLeft(ways, caller, { userId: id, without: 'password' });
    if (await store.removePassword(id)) return id;
    throw notFound('password', 'This user has no password.', 'ListPasskeys shows passkeys and the password.');
  }

  #assertTaken(): void {
    if (this.isTaken) return;
    throw new SandhavenError('failed_precondition', 'This service takes no passwords.', {
      hint: 'Sign in with a passkey, a link or an API key. The operator takes passwords by --password-sign-in yes.',
    });
  }
}

function count(buckets: Buckets, key: string, now: number): void {
  const waitMs = buckets.take(key, now);
  if (waitMs === 0) return;
  throw new SandhavenError('resource_exhausted', 'There were too many attempts with this name.', {
    hint: 'Wait retry_after_seconds, or sign in with a passkey, a link or an API key: those are not slowed.',
    retryable: true,
    retry_after_seconds: Math.ceil(waitMs / 1_000),
  });
}

/** Returns the one whose email it is; else the only one of that name. */
function meant(owners: readonly PasswordOwner[], typed: string): PasswordOwner | null {
  const [first, another] = owners;
  if (first?.user.email.toLowerCase() === typed.toLowerCase()) return first;
  return another === undefined ? (first ?? null) : null;
}

function assertStrong(password: string): void {
  if (Buffer.byteLength(password) > bytesMax) throw weak(`at most ${bytesMax} bytes long`);
  if ([...password.normalize('NFKC')].length < charsMin) throw weak(`at least ${charsMin} characters long`);
}

function weak(rule: string): SandhavenError {
  return invalidArgument(
    'password',
    `A password is ${rule}.`,
    'Several words that you choose at random do well.',
  );
}

function refused(): SandhavenError {
  return new SandhavenError('unauthenticated', 'This name and password do not sign in.', {
    hint: 'A user with a passkey signs in with that, and not with a password. A link or an API key works too.',
  });
}
