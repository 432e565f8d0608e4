/**
 * A process that writes to a store until it is killed, and prints a line for every write once it is
 * acknowledged. Run as: node writer.ts <database file> <key in hexadecimal>
 */
import { writeSync } from 'node:fs';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, sandboxRecord } from './fixtures.ts';

const [file = '', key = ''] = process.argv.slice(2);
const store = await openSqliteStore({ file, secrets: secretsOf(Buffer.from(key, 'hex')) });
if (!(await store.users.firstUser())) await store.users.insertUser(alice);
const { sandboxes } = store;
const first = (await sandboxes.all()).length;

for (let number = first; ; number++) {
  const box = sandboxRecord({
    id: `sb_${String(number).padStart(16, '0')}`,
    envVars: { A: `value ${number}` },
  });
  await sandboxes.insert(box);
  acknowledge({ inserted: box.id });
  await sandboxes.update(box.id, 1, { generation: 2, stateReason: `changed ${number}` });
  acknowledge({ updated: box.id });
  await sandboxes.touch(new Map([[box.id, 5_000 + number]]));
  acknowledge({ touched: box.id, at: 5_000 + number });
}

/** Straight to the pipe: what Node buffers would be lost with the process. */
function acknowledge(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
