/**
 * A process that notes calls until it is killed, and prints each once it is noted, with the time. Run as:
 * node writer.ts <data directory>
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditService } from '../../src/control/audit/audit.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { auditCheckpointFile } from '../../src/store/record-files.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

const [directory = ''] = process.argv.slice(2);
const secrets = secretsOf(Buffer.alloc(32, 7));
const store = await openSqliteStore({ file: join(directory, 'sandhaven.db'), secrets });
const fail = (message: string) => {
  throw new Error(message);
};
const audit = new AuditService({
  store: store.audit,
  checkpoint: auditCheckpointFile(join(directory, 'audit-checkpoint')),
  key: secrets.deriveKey('audit chain'),
  keptMs: 0,
  ...{ clock: Date, log: { info: () => {}, warn: () => {}, error: fail } },
});
await audit.open();
const subject = {
  ...{ action: 'Sandbox.RunCommand', caller: { id: 'user_1', keyId: 'key_1' } },
  origin: { transport: 'http', address: null } as const,
};

/** Some thousand calls a second, which the reader of the lines keeps up with. */
const CALLERS = 4;

await Promise.all(
  Array.from({ length: CALLERS }, async (_, caller) => {
    for (let number = 0; ; number++) {
      const requestId = `req_${process.pid}_${caller}_${number}`;
      await audit.call({ ...subject, requestId }, () => sleep(1));
      writeSync(1, `${JSON.stringify({ requestId, at: Date.now() })}\n`);
    }
  }),
);
