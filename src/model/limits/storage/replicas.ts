/** Bounds of the replicas of one installation. */

export const replicasLimits = {
  replicas: {
    /** By the database's clock: a replica that has not renewed its lease for so long is given up. */
    leaseMs: 25_000,
    /** By its own clock: a replica without a renewal for so long stops work. The rest of the lease is for requests under way. */
    workMs: 9_000,
    renewMs: 2_000,
    /** Wait for another replica's operation until the row is read again; news of a write end it early. */
    lookAgainMs: 1_000,
    /** Time between two looks for operations of replicas that were given up. */
    takeOverMs: 2_000,
    /** Time between two comparisons of the store with the machines. */
    compareMs: 20_000,
    /** The longest time until the others know of activity at one replica: it is stored every 5 s. */
    activityKnownMs: 20_000,
    /** Turns of the scheduler, 5 s each, for which a deadline has passed before it is acted on. */
    looksUntilDue: 4,
    /** Rows that are read at once, by those who look at all of them. */
    pageRows: 500,
    /** Sandboxes whose machines are compared, or mended, at once. */
    comparedAtOnce: 32,
    /** Operations of given-up replicas that one replica finishes at once. */
    takenOverAtOnce: 16,
    /** Those of them that are archives: each may take hours, and others wait for the rest. */
    archivesTakenOverAtOnce: 4,
    /** Ids of given-up replicas in memory; each start of a process is one more. */
    givenUpKept: 1_000,
    /** Updates of a row that another replica has changed in between, before the caller gets an error. */
    overtaken: 10,
    /** Wait for news of a call at another replica, before a call out of order is refused. */
    hearsayMs: 250,
    /** Time between the first answer that a replica is not ready, and the end of its listeners. */
    drainMs: 3_000,
    /** Messages about what callers have seen on their way to the database; further ones are dropped. */
    seenUnderWay: 4,
    /** Time between two readings of the rights of open connections: a message of an end may be lost with its sender. */
    recheckMs: 60_000,
    recheckedAtOnce: 2,
    /** Open connections whose right could not be read for so long end. */
    uncheckedMs: 5 * 60_000,
    /** Bytes of a message between replicas; PostgreSQL takes 8,000. */
    messageBytes: 7_500,
    /** Longest wait for the other replicas to hear of an end of rights. */
    heardMs: 1_000,
  },
} as const;
