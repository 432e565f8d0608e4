/**
 * The store's SQL, written once for both databases. A piece of work is a generator that yields one statement after
 * another and receives the answer of each. SQLite answers in the calling thread; PostgreSQL answers over the network.
 *
 * Work may run more than once (PostgreSQL rolls back on a deadlock and starts it anew), so it has no effect but its
 * statements.
 */

/** Values that both databases store. */
export type SqlValue = string | number | null | Uint8Array;
export type SqlValues = Record<string, SqlValue>;
export type Row = Record<string, unknown>;

export interface Request {
  statement: Statement;
  values: SqlValues;
  /** The part of the answer that the work reads. */
  wanted: 'rows' | 'first' | 'changes';
}

export interface Answer {
  /** Empty for `changes`; at most one for `first`. */
  rows: Row[];
  /** Rows written; 0 for the others. */
  changes: number;
}

export type Work<T> = Generator<Request, T, Answer>;

/** `share` is the user on whose behalf a work runs, when the rows know one: PostgreSQL divides its connections by it. */
export interface Sql {
  readonly dialect: Dialect;
  /** Runs one statement that only reads. */
  read<T>(work: () => Work<T>, share?: string): Promise<T>;
  /** Runs statements that only read, all on one state of the database. */
  readTogether<T>(work: () => Work<T>, share?: string): Promise<T>;
  /** Runs one statement that writes. Resolves when the commit is on the disk. */
  writeOne<T>(work: () => Work<T>, share?: string): Promise<T>;
  /**
   * Runs `work` and commits it, or rolls it back. Resolves when the commit is on the disk. Works of one lock run one
   * after another; works of different locks may run side by side, each statement seeing what was committed before it.
   */
  write<T>(lock: string, work: () => Work<T>, share?: string): Promise<T>;
  /** Resolves when every commit that a read may have seen is on the disk. */
  settled(): Promise<void>;
  /** Returns true when a row with this primary key, or these unique columns, already exists. */
  isDuplicate(error: unknown, kind: 'key' | 'columns'): boolean;
  close(): Promise<void>;
}

/** Expressions that the databases write differently. */
export interface Dialect {
  /** An integer in a column of JSON; NULL without it. */
  integerIn(column: string, key: string): string;
  /** True when every pair of the JSON object in a parameter is among those in the column. */
  includesPairs(column: string, parameter: string): string;
  /** True when column and parameter differ in the case of ASCII letters at most. */
  equalsIgnoringCase(column: string, parameter: string): string;
  /** The database's clock, in milliseconds since the epoch. */
  readonly now: string;
  /** Ends a SELECT: locks its rows until the commit, and leaves out rows that another work holds. */
  readonly lockingFree: string;
}

/** SQL with parameters of the form `:name`. Has no string literal with a colon, and no `::`. */
export class Statement {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  *all(values: SqlValues = {}): Work<Row[]> {
    return (yield { statement: this, values, wanted: 'rows' }).rows;
  }

  *get(values: SqlValues = {}): Work<Row | undefined> {
    return (yield { statement: this, values, wanted: 'first' }).rows[0];
  }

  /** Returns the number of rows written. */
  *run(values: SqlValues = {}): Work<number> {
    return (yield { statement: this, values, wanted: 'changes' }).changes;
  }
}

export function statement(text: string): Statement {
  return new Statement(text);
}
