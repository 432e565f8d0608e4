/**
 * A thread that moves what is in SQLite's log into the database, and ends. The writer goes on meanwhile; once all is
 * moved, its next commit begins the log anew.
 */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

/** Commits that come while it works need another round. */
const ROUNDS = 5;

const connection = new DatabaseSync(String(workerData));
try {
  for (let round = 0; round < ROUNDS; round++) {
    const { log, checkpointed } = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {};
    if (log === checkpointed) break;
  }
} finally {
  connection.close();
}
