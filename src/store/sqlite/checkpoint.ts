/**
 * Thread that moves SQLite's write-ahead log into the database, and exits. The writer continues meanwhile; once all is
 * moved, its next commit restarts the log.
 */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

/** Commits during a round need another round. */
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
