/** A statement in PostgreSQL's form: numbered parameters, and the name under which a connection keeps its plan. */
import { hash } from 'node:crypto';
import type { SqlValue, SqlValues, Statement } from '../sql/sql.ts';
import { toStored } from './pool.ts';

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
