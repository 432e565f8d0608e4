/** Connections to PostgreSQL: their number, their time limits, and JavaScript's values for its types. */
import { hash } from 'node:crypto';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import type { Log } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { StoreAddress } from '../../model/store-address.ts';
import type { SqlValue, SqlValues, Statement } from '../sql/sql.ts';

const { connections, connectTimeoutMs, statementTimeoutMs, lockTimeoutMs } = limits.postgres;

/** Object ids of types, as in PostgreSQL's pg_type.dat. */
const INT8 = 20;
const TEXT = 25;
const NUMERIC = 1700;

/** Variables of the environment complete the address, as the PostgreSQL manual has them for libpq. */
export function connectionSettings({ url, password }: StoreAddress): pg.ClientConfig {
  return {
    // A connection string would hide a password beside it.
    ...parseIntoClientConfig(url),
    ...(password === null ? {} : { password }),
    application_name: 'sandhaven',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // The server may be gone without a word: then its own limits never fire.
    query_timeout: 2 * statementTimeoutMs,
    keepAlive: true,
    types: { getTypeParser },
  };
}

/** Opens connections when they are needed, and closes those that nobody uses. */
export function openPool(address: StoreAddress, log?: Pick<Log, 'warn'>): pg.Pool {
  const pool = new pg.Pool({ ...connectionSettings(address), max: connections });
  // An unused connection that breaks off is replaced at the next use.
  pool.on('error', (error) => log?.warn('a connection to the database broke off', { error }));
  return pool;
}

function getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (type === INT8 || type === NUMERIC) return Number;
  if (type === TEXT) return fromStored;
  return pg.types.getTypeParser(type, format ?? 'text') as (value: string) => unknown;
}

const MARK = '\u{F0000}';
const escaped: Record<string, string> = { '\0': `${MARK}0`, [MARK]: `${MARK}1` };
const plain: Record<string, string> = { [`${MARK}0`]: '\0', [`${MARK}1`]: MARK };

/**
 * Text as PostgreSQL stores it. It has no NUL character, which a program's last words may hold: a private character
 * stands for it, and for itself. Texts stay different that were different.
 */
export function toStored(text: string): string {
  return text.includes('\0') || text.includes(MARK)
    ? text.replaceAll(/\0|\u{F0000}/gu, (character) => escaped[character] ?? character)
    : text;
}

function fromStored(text: string): string {
  return text.includes(MARK)
    ? text.replaceAll(/\u{F0000}[01]/gu, (character) => plain[character] ?? character)
    : text;
}

// A statement in PostgreSQL's form: numbered parameters, and the name under which a connection keeps its plan.

export interface Numbered {
  text: string;
  /** Parameters in the order of their numbers. */
  parameters: readonly string[];
  /** One for each text; PostgreSQL takes 63 bytes. */
  name: string;
}

// Weak: a statement that is made for one call goes with it.
const known = new WeakMap<Statement, Numbered>();

export function numbered(statement: Statement): Numbered {
  const found = known.get(statement) ?? translate(statement.text);
  known.set(statement, found);
  return found;
}

/** Throws when the statement has a parameter without a value, which is a defect. */
export function valuesOf({ parameters }: Numbered, values: SqlValues): SqlValue[] {
  return parameters.map((name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the statement's parameter ${name} has no value`);
    return typeof value === 'string' ? toStored(value) : value;
  });
}

function translate(sql: string): Numbered {
  const parameters: string[] = [];
  const text = sql.replaceAll(/:([A-Za-z_]+)/g, (_, name: string) => {
    if (!parameters.includes(name)) parameters.push(name);
    return `$${parameters.indexOf(name) + 1}`;
  });
  return { text, parameters, name: hash('sha256', text, 'hex').slice(0, 32) };
}
