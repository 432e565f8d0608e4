/**
 * Loaded before a service (`NODE_OPTIONS=--import=…`): counts its SQLite statements, and prints the count on SIGUSR2. BEGIN and
 * COMMIT count, as they do among the round trips to PostgreSQL.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';

type Method = (this: StatementSync, ...given: unknown[]) => unknown;

let count = 0;
const methods = StatementSync.prototype as unknown as Record<string, Method>;
for (const name of ['all', 'get', 'run', 'iterate']) {
  const original = methods[name];
  methods[name] = function (...given) {
    count += 1;
    return original?.apply(this, given);
  };
}
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  count += 1;
  return exec.call(this, sql);
};
process.on('SIGUSR2', () => process.stderr.write(`statements ${count}\n`));
