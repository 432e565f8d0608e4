/** Composition of the ways in beside keys and links: passkeys and passwords. */
import type { KeyService } from '../people/keys.ts';
import type { People } from '../people/people.ts';
import type { SignInService } from '../people/sign-ins.ts';
import type { UserService } from '../people/users.ts';
import type { Clock, PasskeyVerifier, Store } from '../ports/index.ts';
import { PasskeyService } from './passkeys.ts';
import { PasswordHashes } from './password-hashes.ts';
import { PasswordService } from './passwords.ts';
import { FreshSignIns } from './safeguards.ts';

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
