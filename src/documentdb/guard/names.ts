/** Checks names of databases and collections by the server's rules, and excludes the server's own data. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { quoted } from './place.ts';

/** Throws `invalid_argument`. */
export function checkDatabaseName(name: string, parameter: string): void {
  const fault = databaseNameFault(name);
  if (fault === null) return;
  const hint = 'Call DocumentDb.DiscoverDatabases for the databases that there are.';
  throw invalidArgument(parameter, `${parameter} ${quoted(name)} ${fault}.`, hint);
}

/** Throws `invalid_argument`. */
export function checkCollectionName(name: string, parameter: string): void {
  const fault = collectionNameFault(name);
  if (fault === null) return;
  const hint = 'Call DocumentDb.DiscoverCollections for the collections that there are.';
  throw invalidArgument(parameter, `${parameter} ${quoted(name)} ${fault}.`, hint);
}

/** Returns the reason that callers may not read a database of this name; null when they may. */
export function databaseNameFault(name: string): string | null {
  const { databaseNameBytes } = limits.documents;
  if (name === '') return 'must not be empty';
  if (Buffer.byteLength(name) > databaseNameBytes) return `must be at most ${databaseNameBytes} bytes`;
  if (!name.isWellFormed()) return 'holds half a character';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL ends a name on the wire.
  if (/[\u0000/\\. "$]/.test(name)) return 'must not contain any of / \\ . " $, spaces and NUL';
  // Servers distinguish database names regardless of case.
  if (serversOwn.includes(name.toLowerCase())) return "holds the server's own data";
  return null;
}

const serversOwn: readonly string[] = ['admin', 'config', 'local'];

/** Returns the reason that callers may not read a collection of this name; null when they may. */
export function collectionNameFault(name: string): string | null {
  const { collectionNameBytes } = limits.documents;
  if (name === '') return 'must not be empty';
  if (Buffer.byteLength(name) > collectionNameBytes) return `must be at most ${collectionNameBytes} bytes`;
  if (!name.isWellFormed()) return 'holds half a character';
  if (/[\0$]/.test(name)) return 'must not contain "$" or NUL';
  if (name.startsWith('.')) return 'must not begin with "."';
  if (/^system(?:\.|$)/i.test(name)) return "holds the server's own data";
  return null;
}
