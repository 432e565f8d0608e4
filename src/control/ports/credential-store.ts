/** Store of passkeys and passwords. */
import type { Passkey } from '../../model/access/passkeys.ts';
import type { Account } from '../../model/user.ts';

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
