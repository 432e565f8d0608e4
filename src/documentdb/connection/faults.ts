/**
 * Maps errors of the driver and of the server to errors for a caller. They are recognized by name and code, so
 * that the driver is not loaded for them. A server's words are passed on when they are about the query; no
 * message or cause contains anything of the connection string.
 */
import type { CollectionName } from '../../model/document-schema.ts';
import { type ErrorFields, SandhavenError } from '../../model/errors.ts';
import { createScrub, type Scrub, scrubbedError } from './scrub.ts';
import { unreachable } from './unreachable.ts';

/** Subject of the query, as far as an error should name it. */
export interface Asked {
  name?: CollectionName;
  /** Parameter most likely at fault. */
  parameter?: string;
}

const connectionErrors = /^Mongo(?:Network|PoolCleared|PoolClosed|TopologyClosed|ServerClosed|NotConnected)/;

export class Faults {
  readonly #connectionString: string;
  readonly #scrub: Scrub;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
    this.#scrub = createScrub(connectionString);
  }

  /** Returns true when a retry may succeed in a moment, on another connection. */
  isPassing(error: unknown): boolean {
    const { name, code } = known(error);
    if (name === 'MongoNetworkTimeoutError') return false;
    return connectionErrors.test(name) || isOfAnEnded(error) || kindOf(code) === 'passing';
  }

  /** Returns the server's code, also of an error already mapped here. */
  codeOf(error: unknown): number | null {
    return known(error instanceof SandhavenError ? error.cause : error).code;
  }

  of(error: unknown, asked: Asked = {}): Error {
    if (error instanceof SandhavenError) return error;
    const cause = scrubbedError(error, this.#connectionString);
    const { name, code, message } = known(error);
    if (name === 'MongoWaitQueueTimeoutError') return crowded(cause);
    if (
      name === 'MongoServerSelectionError' ||
      connectionErrors.test(name) ||
      isOfAnEnded(error) ||
      isOfTheSystem(error)
    ) {
      return unreachable(error, cause, this.#connectionString);
    }
    if (name === 'MongoMissingCredentialsError') return refusedCredentials(cause);
    if (name.startsWith('MongoServer') || code !== null) return this.#ofServer(code, message, asked, cause);
    if (/^(?:BSON|MongoInvalidArgument)/.test(name)) return refused(this.#scrub(message), asked, cause);
    if (name.startsWith('Mongo')) return failed('its answer was not understood', cause);
    return cause;
  }

  #ofServer(code: number | null, message: string, asked: Asked, cause: Error): SandhavenError {
    const words = this.#scrub(message);
    // A hosted server has one code for everything.
    if (/bad auth|authentication failed|requires authentication/i.test(message)) {
      return refusedCredentials(cause);
    }
    switch (kindOf(code)) {
      case 'credentials':
        return refusedCredentials(cause);
      case 'forbidden':
        return forbidden(asked, cause);
      case 'timeout':
        return tookTooLong(cause);
      case 'refused':
        return refused(words, asked, cause);
      case 'unsupported':
        return refused(words, asked, cause, 'This server does not support it; express it differently.');
      case 'missing':
        return missing(asked, cause);
      case 'memory':
        return tooMuchMemory(words, cause);
      case 'too_large':
        return tooLarge(words, cause);
      case 'passing':
        return lost(cause);
      case null:
        return failed(words, cause);
    }
  }
}

export function tookTooLong(cause?: unknown): SandhavenError {
  const hint =
    'Narrow it: filter by an indexed field (DocumentDb.GetCollectionSchema lists the indexes), ' +
    'match before anything else, ask for less.';
  return new SandhavenError(
    'timeout',
    'The document database took too long for this query.',
    { hint },
    cause,
  );
}

function known(error: unknown): { name: string; code: number | null; message: string } {
  if (!(error instanceof Error)) return { name: '', code: null, message: '' };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : null;
  return { name: error.name, code, message: error.message };
}

/** Raised before any connection: by the resolver, or for a certificate file. */
function isOfTheSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** Written to a connection that the server has just ended: the driver passes Node's error on as it is. */
function isOfAnEnded(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

function refused(words: string, { parameter }: Asked, cause: Error, hint?: string): SandhavenError {
  const fields: ErrorFields = { hint: hint ?? 'Correct what it names, and call again.' };
  if (parameter !== undefined) fields.parameter = parameter;
  return new SandhavenError(
    'invalid_argument',
    `The document database refuses this: ${words}`,
    fields,
    cause,
  );
}

function refusedCredentials(cause: Error): SandhavenError {
  const hint =
    "The service's operator sets DOCUMENTDB_CONNECTION_STRING: user, password and, where users are kept in another " +
    'database, authSource. Special characters in the password are percent-encoded.';
  const detail = 'The document database refuses the credentials of the connection string.';
  return new SandhavenError('permission_denied', detail, { hint }, cause);
}

function forbidden({ name }: Asked, cause: Error): SandhavenError {
  const what = name ? `${name.database}.${name.collection}` : 'this';
  const detail = `The credentials of the connection string do not allow to read ${what}.`;
  const hint = "The service's operator grants the user the role read on the database.";
  return new SandhavenError('permission_denied', detail, { hint }, cause);
}

function missing({ name }: Asked, cause: Error): SandhavenError {
  const detail = name
    ? `There is no collection '${name.collection}' in '${name.database}'.`
    : 'There is no such collection.';
  const hint = 'DocumentDb.DiscoverCollections lists the collections of a database.';
  return new SandhavenError('not_found', detail, { resource: 'collection', hint }, cause);
}

function tooMuchMemory(words: string, cause: Error): SandhavenError {
  const hint = 'Match and project first, sort by an indexed field, group less at once.';
  const detail = `The document database ran out of memory for this query: ${words}`;
  return new SandhavenError('resource_exhausted', detail, { hint, retryable: false }, cause);
}

function tooLarge(words: string, cause: Error): SandhavenError {
  const hint = 'Project fewer fields, or group into smaller documents.';
  return new SandhavenError('too_large', `A document of this query is too large: ${words}`, { hint }, cause);
}

function lost(cause: Error): SandhavenError {
  const detail = 'The document database lost this query: it restarted or gave the query up.';
  return new SandhavenError('unavailable', detail, { hint: 'Call again.' }, cause);
}

function crowded(cause: Error): SandhavenError {
  const detail = 'All connections to the document database are busy.';
  const hint = 'Call again in a moment, or ask less at once.';
  return new SandhavenError('resource_exhausted', detail, { hint, retryable: true }, cause);
}

function failed(words: string, cause: Error): SandhavenError {
  const hint = "Try again; if it persists, see its own log and the service's.";
  return new SandhavenError('unavailable', `The document database failed: ${words}`, { hint }, cause);
}

/** Classifies the codes of servers' errors. */
export type Kind =
  | 'credentials'
  | 'forbidden'
  | 'timeout'
  | 'refused'
  | 'unsupported'
  | 'missing'
  | 'memory'
  | 'too_large'
  | 'passing';

const kindOfCode: Readonly<Record<number, Kind>> = {
  ...kinds('credentials', [11, 18]),
  ...kinds('forbidden', [13]),
  ...kinds('timeout', [50, 262]),
  ...kinds('refused', [2, 4, 5, 9, 14, 15, 16, 17, 20, 27, 28, 30, 31, 33, 38, 40, 45, 49, 52, 53, 54]),
  ...kinds('refused', [57, 66, 72, 73, 74, 78, 80, 81, 103, 104, 167, 168, 169, 197, 241, 291]),
  ...kinds('unsupported', [59, 115, 166, 238, 303, 40324]),
  ...kinds('missing', [26]),
  ...kinds('memory', [39, 96, 146, 292, 16819, 16820, 16945]),
  ...kinds('too_large', [10334, 17260, 17419, 17420]),
  // The server restarts, steps down or has lost the cursor.
  ...kinds('passing', [6, 7, 43, 63, 89, 91, 112, 133, 175, 189, 237, 9001, 10107, 11600, 11601, 11602]),
  ...kinds('passing', [13388, 13435, 13436]),
};

/** Codes from here on belong to single places in the server, nearly all of them about a query's text. */
const FIRST_LOCATION_CODE = 10_000;

/** Returns null for an unknown code. */
export function kindOf(code: number | null): Kind | null {
  if (code === null) return null;
  return kindOfCode[code] ?? (code >= FIRST_LOCATION_CODE ? 'refused' : null);
}

function kinds(kind: Kind, codes: readonly number[]): Record<number, Kind> {
  return Object.fromEntries(codes.map((code) => [code, kind]));
}
