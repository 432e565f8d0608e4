/** Wires the audit log: rows in the database, the end of the chain beside it, the key of both. */
import { AuditService } from '../control/audit/audit.ts';
import type { Clock, Log, Store } from '../control/ports/index.ts';
import type { DataDirectory } from '../store/data-directory.ts';
import type { Secrets } from '../store/files/secrets.ts';
import { auditCheckpointFile } from '../store/record-files.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface AuditLogDependencies {
  data: DataDirectory;
  secrets: Secrets;
  store: Store;
  /** 0 keeps rows forever. */
  keptDays: number;
  clock: Clock;
  log: Log;
}

export function auditLog({ data, secrets, store, keptDays, clock, log }: AuditLogDependencies): AuditService {
  return new AuditService({
    store: store.audit,
    checkpoint: auditCheckpointFile(data.auditCheckpointFile),
    key: secrets.deriveKey('audit chain'),
    keptMs: keptDays * DAY_MS,
    replicas: store.replicas,
    clock,
    log,
  });
}
