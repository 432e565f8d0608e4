/** Wires access to sandboxes from outside: SSH, previews of ports and of files, and their end. */
import { FilePreviews } from '../../control/access/file-previews.ts';
import { AccessRevocation, PreviewService, SshAccessService } from '../../control/access/granted-access.ts';
import { PreviewAccess } from '../../control/access/preview-access.ts';
import { PublicPortService } from '../../control/access/public-ports.ts';
import { SignedFiles } from '../../control/access/signed-files.ts';
import type { AccessService } from '../../control/access/tokens.ts';
import type { AuditService } from '../../control/audit/audit.ts';
import { PreviewGrants } from '../../control/audit/preview-grants.ts';
import type { CallerRights } from '../../control/callers/caller-rights.ts';
import type { AgentLink, Clock, SandboxStore } from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import type { SandboxUses } from '../../control/work/sandbox-uses.ts';
import type { Load } from '../../fairness/shares.ts';

export interface AccessDependencies {
  access: AccessService;
  sandboxes: SandboxStore;
  uses: SandboxUses;
  agent: AgentLink;
  callerRights: CallerRights;
  audit: AuditService;
  clock: Clock;
  /** true: owners may open ports to everybody. */
  publicPorts: boolean;
}

export interface WiredAccess {
  services: Pick<
    Services,
    'sshAccess' | 'previews' | 'filePreviews' | 'signedFiles' | 'accessRevocation' | 'publicPorts'
  >;
  /** Of the preview gateway. */
  previewAccess: PreviewAccess;
  /** Previews in progress. */
  loads: { previews: Load; file_previews: Load };
}

export function wireAccess(parts: AccessDependencies): WiredAccess {
  const { access, sandboxes, uses, agent, callerRights, audit, clock, publicPorts: mayBePublic } = parts;
  const grants = new PreviewGrants(audit, clock);
  const previews = new PreviewService({ uses, agent, access, clock });
  const previewAccess = new PreviewAccess({ access, uses, agent, grants, clock, mayBePublic });
  const filePreviews = new FilePreviews({
    ...{ uses, agent, access, callerRights, grants, clock },
    site: () => previews.site,
  });
  const signedFiles = new SignedFiles({ uses, agent, access, grants, clock });
  return {
    services: {
      previews,
      sshAccess: new SshAccessService(uses, access, clock),
      filePreviews,
      signedFiles,
      accessRevocation: new AccessRevocation(sandboxes, access),
      publicPorts: new PublicPortService({ sandboxes, access, mayBePublic }),
    },
    previewAccess,
    loads: { previews: previewAccess.load, file_previews: filePreviews.load },
  };
}
