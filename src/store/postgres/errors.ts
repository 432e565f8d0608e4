/** Failures of PostgreSQL, by the SQLSTATE that it gives them (PostgreSQL manual, appendix A) or by its client's. */
import pg from 'pg';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

const UNIQUE_VIOLATION = '23505';

/** The same work succeeds, or fails for its own reason, when it runs again so many times. */
const attempts: Record<string, number> = {
  '40001': limits.postgres.attempts, // serialization_failure
  '40P01': limits.postgres.attempts, // deadlock_detected
  '23503': 2, // foreign_key_violation: a row that was read is deleted meanwhile
};

const unavailable = [
  /^08/, // connection_exception
  /^57P0/, // shut down, crashed, or still starting
  /^57014$/, // query_canceled: statement_timeout
  /^55P03$/, // lock_not_available: lock_timeout
  /^53300$/, // too_many_connections
  /^25P0[34]$/, // a transaction's timeout
  /^25006$/, // read_only_sql_transaction: a standby
  /^SH001$/, // GIVEN_UP in schema.ts
  /^E(CONN|HOST|NET|PIPE|TIMEDOUT|AI_|NOTFOUND)/,
];

/** The client gives these no code. */
const lost =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered/;

/** Returns true when a row with this primary key, or these unique columns, already exists. */
export function isDuplicate(error: unknown, kind: 'key' | 'columns'): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false;
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : '';
  return constraint.endsWith('_pkey') === (kind === 'key');
}

/** @param attempt Number of the attempt that failed, from 1. */
export function isRepeatable(error: unknown, attempt: number): boolean {
  return attempt < (attempts[codeOf(error)] ?? 1);
}

/** Maps failures that a caller can act on to their own errors; every other failure is a defect. */
export function explained(error: unknown): unknown {
  if (isLost(error)) {
    return new SandhavenError(
      'unavailable',
      'The database of the service does not answer.',
      { hint: 'Try again in a moment.', retryable: true },
      error,
    );
  }
  if (/^53[12]00$/.test(codeOf(error))) {
    return new SandhavenError(
      'resource_exhausted',
      'The database of the service has no room left.',
      { hint: 'Free disk or memory of the PostgreSQL server, then try again.', retryable: true },
      error,
    );
  }
  return error;
}

/** As `explained`, with what can be wrong with an address and an account. */
export function explainedAtOpening(error: unknown): unknown {
  const hints: [pattern: RegExp, message: string, hint: string][] = [
    [/^28/, 'PostgreSQL refuses the user or the password.', 'Give the password in PGPASSWORD or ~/.pgpass.'],
    [/^3D000$/, 'PostgreSQL has no such database.', 'Create it, or name another one in --store.'],
    [
      /^42501$/,
      'The PostgreSQL user may not create tables.',
      'Grant it CREATE on the schema of the database.',
    ],
  ];
  const found = hints.find(([pattern]) => pattern.test(lacksPassword(error) ? '28' : codeOf(error)));
  if (!found) return explained(error);
  return new SandhavenError('failed_precondition', found[1], { hint: found[2] }, error);
}

/** The client asks for it in words of its own. */
function lacksPassword(error: unknown): boolean {
  return error instanceof Error && error.message.includes('client password must be');
}

/** Returns true when the server, or the way to it, is gone for now. */
export function isLost(error: unknown): boolean {
  if (unavailable.some((pattern) => pattern.test(codeOf(error)))) return true;
  return error instanceof Error && lost.test(error.message);
}

/** Returns true when a query was sent, maybe, and its connection broke before the server's answer. */
export function isUnanswered(error: unknown): error is Error {
  return isLost(error) && !(error instanceof pg.DatabaseError);
}

/** A change that may have been made. */
export function outcomeUnknown(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The database of the service broke off in the middle of a change, which may have been made.',
    { hint: 'Look whether it was made before you try again.', retryable: false },
    cause,
  );
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
