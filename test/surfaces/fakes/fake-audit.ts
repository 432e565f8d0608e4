/** The audit log as it is, over a store in memory. */
import { AuditService } from '../../../src/control/audit/audit.ts';
import type { Services } from '../../../src/control/services.ts';
import { memoryAudit, memoryCheckpoint } from '../../store/memory/memory-audit.ts';

export function fakeAudit(): Pick<Services, 'audit'> {
  const silent = () => {};
  const log = { info: silent, warn: silent, error: silent };
  return {
    audit: new AuditService({
      store: memoryAudit().audit,
      checkpoint: memoryCheckpoint(),
      key: Buffer.alloc(32, 5),
      keptMs: 0,
      ...{ clock: Date, log },
    }),
  };
}
