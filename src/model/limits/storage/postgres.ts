/** Bounds of the connections to PostgreSQL. */
import { MiB } from '../units.ts';

export const postgresLimits = {
  postgres: {
    /** Statements of one service that run at once; further ones wait. */
    connections: 10,
    /** Of one user; and of the service, for statements that no user is known of. */
    connectionsPerShare: 4,
    /** Works of one share that wait for a connection, or for their lock; and the longest wait for a connection. */
    waiting: 1_024,
    waitMs: 15_000,
    /** Longest wait until a new connection is open. */
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 15_000,
    lockTimeoutMs: 10_000,
    /** Of work that PostgreSQL rolled back for another's sake. */
    attempts: 5,
    /** Longest wait for the outcome of a commit whose connection was lost, and the pause between two questions. */
    outcomeWaitMs: 5_000,
    outcomePauseMs: 50,
    /** Time between two checks of the connection that holds the database's lock. */
    heartbeatMs: 5_000,
    /** Pause before a lost connection is opened again. */
    reconnectMs: 500,
    /** Rows of one statement of `sandhaven store copy`. */
    copiedRows: 100,
    /** Rows in memory, which calls on the hot path need. */
    cache: { sandboxBytes: 32 * MiB, callerBytes: 4 * MiB },
  },
} as const;
