/** An audit log in a real database, that can be closed, tampered with and opened again. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { AuditService, type AuditSubject } from '../../src/control/audit/audit.ts';
import type { AuditStore, Store } from '../../src/control/ports/index.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { auditCheckpointFile } from '../../src/store/record-files.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryDirectory } from '../store/fixtures.ts';

const secrets = secretsOf(Buffer.alloc(32, 7));

export const subject: AuditSubject = {
  action: 'Sandbox.RunCommand',
  caller: { id: 'user_1', keyId: 'key_1' },
  origin: { transport: 'http', address: '127.0.0.1' },
  requestId: 'req_1',
};

export interface TestLog {
  audit: AuditService;
  store: AuditStore;
  databaseFile: string;
  checkpointFile: string;
  /** What the service's log was told. */
  logged: string[];
  time: { now: number };
  /** So many calls, noted and written. */
  fill(calls: number): Promise<void>;
  /** Statements of somebody who has the database file. */
  tamper(sql: string): void;
  close(): Promise<void>;
  /** Ends as a killed process does: nothing more is written. */
  abandon(): Promise<void>;
}

export interface LogOptions {
  directory?: string;
  keptMs?: number;
  time?: { now: number };
  /** In place of the database's own, or around it. */
  storeOf?: (store: AuditStore) => AuditStore;
}

export async function openLog(options: LogOptions = {}): Promise<TestLog> {
  const { directory = temporaryDirectory(), keptMs = 0, time = { now: 1_000_000 } } = options;
  const { storeOf = (own) => own } = options;
  const databaseFile = join(directory, 'sandhaven.db');
  const checkpointFile = join(directory, 'audit-checkpoint');
  const whole: Store = await openSqliteStore({ file: databaseFile, secrets });
  const logged: string[] = [];
  const log = (message: string) => logged.push(message);
  let live = true;
  const alive = storeOf(whole.audit);
  const store: AuditStore = {
    ...bound(alive),
    append: async (rows) => {
      if (!live) throw new Error('killed');
      return alive.append(rows);
    },
  };
  const file = auditCheckpointFile(checkpointFile);
  const audit = new AuditService({
    store,
    checkpoint: {
      read: () => file.read(),
      write: async (end) => {
        if (live) await file.write(end);
      },
    },
    key: secrets.deriveKey('audit chain'),
    clock: { now: () => time.now },
    log: { info: log, warn: log, error: log },
    keptMs,
  });
  await audit.open();
  let open = true;
  const close = async () => {
    if (open) await audit.close().finally(() => whole.close());
    open = false;
  };
  onTestFinished(close);
  return {
    ...{ audit, store: whole.audit, databaseFile, checkpointFile, logged, time, close },
    async fill(calls) {
      for (let call = 0; call < calls; call++) await audit.call(subject, async () => {});
      await audit.list({ filter: {}, limit: 1 }, 0);
    },
    tamper(sql) {
      const foreign = new DatabaseSync(databaseFile);
      foreign.exec(sql);
      foreign.close();
    },
    async abandon() {
      live = false;
      await close();
    },
  };
}

/** A class keeps its methods on its prototype. */
function bound(store: AuditStore): AuditStore {
  return {
    append: (rows) => store.append(rows),
    last: () => store.last(),
    read: (after, limit) => store.read(after, limit),
    search: (filter, range, take) => store.search(filter, range, take),
    sequenceAt: (time) => store.sequenceAt(time),
    anchor: () => store.anchor(),
    prune: (anchor) => store.prune(anchor),
  };
}
