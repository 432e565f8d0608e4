/**
 * A process that tries for the lock of a data directory and says how it went; with `stay` it holds on until it
 * is killed, collecting garbage. Run as: node lock-holder.ts <directory> [stay]
 */
import { writeSync } from 'node:fs';
import { SandhavenError } from '../../src/model/errors.ts';
import { lockDataDirectory } from '../../src/store/data-directory.ts';

const [directory = '', stay] = process.argv.slice(2);
try {
  lockDataDirectory(directory);
  writeSync(1, 'locked\n');
} catch (error) {
  writeSync(1, `${error instanceof SandhavenError ? error.code : error}\n`);
}
if (stay) setInterval(() => (globalThis as { gc?: () => void }).gc?.(), 20);
