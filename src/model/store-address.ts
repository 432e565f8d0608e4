/** The address of a store in PostgreSQL. */
import { invalidArgument } from './errors.ts';

export interface StoreAddress {
  /** `postgres://user@host:port/database?…`, without a password. */
  url: string;
  /** null: from ~/.pgpass, or none. */
  password: string | null;
}

/** Throws `invalid_argument` naming the flag. Refuses a password: other users of the machine see arguments. */
export function parseStoreUrl(flag: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw invalidArgument(
      flag,
      `${flag} must be a URL such as postgres://sandhaven@db.example.org/sandhaven.`,
    );
  }
  if (url.password !== '' || url.searchParams.has('password')) {
    throw invalidArgument(
      flag,
      `${flag} holds a password.`,
      'Give the password in the variable PGPASSWORD, or in the file ~/.pgpass.',
    );
  }
  if (url.pathname.length < 2) {
    throw invalidArgument(
      flag,
      `${flag} names no database.`,
      'Write its name after the host: postgres://host/name.',
    );
  }
  return text;
}
