/** The services that tools call, as one bundle that main.ts fills. */

import type { ExecutionService } from './execution.ts';
import type { FileService } from './files.ts';
import type { IdentityService } from './identity.ts';
import type { SandboxService } from './sandboxes.ts';
import type { SnapshotService } from './snapshots.ts';

export interface Services {
  sandboxes: SandboxService;
  snapshots: SnapshotService;
  files: FileService;
  execution: ExecutionService;
  identity: IdentityService;
}
