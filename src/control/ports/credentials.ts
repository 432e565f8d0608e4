/** Stores of passkeys and passwords, and the check of passkeys. */
import type { Passkey, PasskeySite } from '../../model/access/passkeys.ts';
import type { Account, User } from '../../model/user.ts';

export interface PasskeyStore {
  /** Rejects with `already_exists` for a known credential, and with `resource_exhausted` above the bound of a user. */
  addPasskey(passkey: Passkey): Promise<void>;
  /** Oldest first. */
  listPasskeys(userId: string): Promise<Passkey[]>;
  findPasskey(id: string): Promise<Passkey | null>;
  findCredential(credentialId: string): Promise<Passkey | null>;
  /** Returns null when it is gone. */
  renamePasskey(id: string, name: string): Promise<Passkey | null>;
  /** Notes a use. Returns false unless the authenticator's counter went on, or never counts: then there is a copy of it. */
  usePasskey(id: string, counter: number, now: number): Promise<boolean>;
  removePasskey(id: string): Promise<boolean>;
  /** Uses a challenge up until it is over. Returns false when it was used before. */
  useChallenge(hash: Buffer, expiresAt: number, now: number): Promise<boolean>;
}

/** A user whom a person may mean who types a name and a password. */
export interface PasswordOwner {
  user: Pick<Account, 'id' | 'name' | 'email' | 'role' | 'disabledAt'>;
  /** null: the user has no password. */
  hash: string | null;
  /** Networks from which this user has signed in by password, newest first. */
  networks: string[];
  hasPasskey: boolean;
}

/** Passwords, as hashes that are sealed besides. */
export interface PasswordStore {
  /** Replaces one that is there. */
  setPassword(userId: string, hash: string, now: number): Promise<void>;
  removePassword(userId: string): Promise<boolean>;
  /** Returns the time of the last change; null without a password. */
  passwordChangedAt(userId: string): Promise<number | null>;
  /** Finds by email, in any case, or by the exact name: the one of the email first, at most three. */
  findPasswordOwners(emailOrName: string): Promise<PasswordOwner[]>;
  /** Remembers a network; the one that was used longest ago gives way above the bound. */
  noteNetwork(userId: string, network: string): Promise<void>;
}

/** Answer of a browser that made a passkey, with its fields bounded and in base64url. */
export interface AddingAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] | undefined };
}

/** Answer of a browser that signed with a passkey, alike. */
export interface SigningAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    /** Id of the user, as it was given with the passkey. */
    userHandle?: string | null | undefined;
  };
}

export type NewCredential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

/** WebAuthn: questions for the browser, and the check of its answers. */
export interface PasskeyVerifier {
  /** Returns the options for `navigator.credentials.create`, in JSON. */
  askToAdd(site: PasskeySite, user: User, challenge: string, known: readonly Passkey[]): Promise<object>;
  /** Returns null for an answer that does not hold: another place, challenge or form, or a user that was not verified. */
  added(site: PasskeySite, challenge: string, answer: AddingAnswer): Promise<NewCredential | null>;
  /** Returns the options for `navigator.credentials.get`, in JSON. They name no user. */
  askToSign(site: PasskeySite, challenge: string): Promise<object>;
  /** Returns the authenticator's count; null for an answer that does not hold, also by its count. */
  signed(
    site: PasskeySite,
    challenge: string,
    answer: SigningAnswer,
    passkey: Passkey,
  ): Promise<{ counter: number } | null>;
}
