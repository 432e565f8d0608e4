/** Bounds of the connections to PostgreSQL. */
export const postgresLimits = {
  postgres: {
    /** Statements of one service that run at once; further ones wait. */
    connections: 10,
    /** Also the longest wait for a free connection. */
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 15_000,
    lockTimeoutMs: 10_000,
    /** Of work that PostgreSQL rolled back for another's sake. */
    attempts: 5,
    /** Pause before a lost connection is opened again. */
    reconnectMs: 500,
    /** Rows of one statement of `sandhaven store copy`. */
    copiedRows: 100,
  },
} as const;
