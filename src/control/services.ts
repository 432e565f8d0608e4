/** The services that tools call, as one bundle that main.ts fills. */

import type { AccessRevocation } from './access-revocation.ts';
import type { AuditService } from './audit/audit.ts';
import type { DocumentService } from './documents/documents.ts';
import type { ExecutionService } from './execution.ts';
import type { FileService } from './files.ts';
import type { GitService } from './git/git-service.ts';
import type { IdentityService } from './identity.ts';
import type { KeyService } from './keys.ts';
import type { PreviewService } from './previews.ts';
import type { AuthorizationService } from './provider/authorizations.ts';
import type { RegistryService } from './registries.ts';
import type { SandboxService } from './sandboxes.ts';
import type { SessionService } from './sessions.ts';
import type { SnapshotService } from './snapshots.ts';
import type { SshAccessService } from './ssh-access.ts';
import type { TunnelService } from './tunnels.ts';
import type { UserService } from './users.ts';

export interface Services {
  sandboxes: SandboxService;
  snapshots: SnapshotService;
  files: FileService;
  execution: ExecutionService;
  sessions: SessionService;
  identity: IdentityService;
  sshAccess: SshAccessService;
  previews: PreviewService;
  accessRevocation: AccessRevocation;
  tunnels: TunnelService;
  git: GitService;
  documents: DocumentService;
  /** At the code-hosting provider; null without one. */
  authorizations: AuthorizationService | null;
  users: UserService;
  audit: AuditService;
  registries: RegistryService;
  keys: KeyService;
}
