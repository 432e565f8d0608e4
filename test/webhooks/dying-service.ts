/**
 * A process that stores a change of a sandbox, and is killed before it delivers the event. Run as:
 * node dying-service.ts <database file> <key in hexadecimal> <URL of the receiver>
 */
import { writeSync } from 'node:fs';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, sandboxRecord } from '../store/fixtures.ts';

const [file = '', key = '', url = ''] = process.argv.slice(2);
const store = await openSqliteStore({ file, secrets: secretsOf(Buffer.from(key, 'hex')) });
await store.users.insertUser(alice);
await store.webhooks.insert(
  { id: 'hook_1', ownerId: alice.id, createdBy: alice.id, url, events: ['sandbox.stopped'], createdAt: 1 },
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
);
const box = sandboxRecord();
await store.sandboxes.insert(box);
await store.sandboxes.update(box.id, 1, { state: 'stopped' });
const [event] = await store.webhooks.deliveries('hook_1');
// Straight to the pipe: what Node buffers would be lost with the process.
writeSync(1, `${event?.id}\n`);
setInterval(() => {}, 1_000);
