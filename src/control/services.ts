/** Services that the tools call, as one bundle that main.ts fills. */
import type { FilePreviews } from './access/file-previews.ts';
import type { AccessRevocation, PreviewService, SshAccessService } from './access/granted-access.ts';
import type { PublicPortService } from './access/public-ports.ts';
import type { SandboxTokens } from './access/sandbox-tokens.ts';
import type { SignedFiles } from './access/signed-files.ts';
import type { AuditService } from './audit/audit.ts';
import type { BuildService } from './builds/build.ts';
import type { DetachedBuilds } from './builds/detached.ts';
import type { Uploads } from './builds/uploads.ts';
import type { IdentityService } from './callers/identity.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { DocumentService } from './documents/documents.ts';
import type { GitService } from './git/git-service.ts';
import type { RegistryService } from './images/registries.ts';
import type { SandboxSnapshots } from './images/sandbox-snapshots.ts';
import type { SnapshotService } from './images/snapshots.ts';
import type { Rollbacks } from './lifecycle/capture.ts';
import type { Forks } from './lifecycle/forks.ts';
import type { SandboxService } from './lifecycle/sandboxes.ts';
import type { SandboxSleep } from './lifecycle/sleep.ts';
import type { AuditEvents } from './live/audit-events.ts';
import type { HealthService } from './live/health.ts';
import type { HealthEvents } from './live/health-events.ts';
import type { SandboxEvents } from './live/sandbox-events.ts';
import type { SnapshotEvents } from './live/snapshot-events.ts';
import type { UsageHistory } from './live/usage-history.ts';
import type { UsageSampler } from './live/usage-sampler.ts';
import type { WebhookService } from './live/webhooks.ts';
import type { Metrics } from './metrics.ts';
import type { Learning } from './network/learning.ts';
import type { NetworkService } from './network/network-service.ts';
import type { OwnerNetworkService } from './network/owner-networks.ts';
import type { AuthorizedApps } from './people/authorized-apps.ts';
import type { DeviceSignInService } from './people/device-sign-ins.ts';
import type { EverybodysSandboxes } from './people/everybodys-sandboxes.ts';
import type { LinkedIdentities } from './people/identities.ts';
import type { IdentityProviderSignIns } from './people/identity-provider-sign-ins.ts';
import type { KeyService } from './people/keys.ts';
import type { OAuthRecords } from './people/oauth-records.ts';
import type { SignInService } from './people/sign-ins.ts';
import type { TeamService } from './people/teams.ts';
import type { UserDeletions } from './people/user-deletions.ts';
import type { UserService } from './people/users.ts';
import type { AuthorizationService } from './provider/authorizations.ts';
import type { ProviderSecrets } from './secrets/provider-secrets.ts';
import type { SandboxSecrets } from './secrets/sandbox-secrets.ts';
import type { SecretService } from './secrets/secret-service.ts';
import type { ContextService } from './work/contexts.ts';
import type { ExecutionService } from './work/execution.ts';
import type { FileService } from './work/files.ts';
import type { ProcessService } from './work/processes.ts';
import type { SessionService } from './work/sessions.ts';
import type { TerminalService, TunnelService } from './work/terminals.ts';

/** Passkeys and passwords come with `Credentials`. */
export interface Services extends Credentials {
  sandboxes: SandboxService;
  sleep: SandboxSleep;
  /** Changes of sandboxes. */
  events: SandboxEvents;
  /** New rows of the audit log. */
  auditEvents: AuditEvents;
  snapshotEvents: SnapshotEvents;
  /** Samples of usage, for those who look at them. */
  usage: UsageSampler;
  /** Use of each sandbox in the last hour. */
  usageHistory: UsageHistory;
  snapshots: SnapshotService;
  sandboxSnapshots: SandboxSnapshots;
  forks: Forks;
  rollbacks: Rollbacks;
  builds: Pick<BuildService, 'prepare'>;
  detachedBuilds: DetachedBuilds;
  uploads: Uploads;
  files: FileService;
  execution: ExecutionService;
  sessions: SessionService;
  /** Processes that outlive their caller. */
  contexts: ContextService;
  processes: ProcessService;
  identity: IdentityService;
  sshAccess: SshAccessService;
  previews: PreviewService;
  filePreviews: FilePreviews;
  signedFiles: SignedFiles;
  accessRevocation: AccessRevocation;
  publicPorts: PublicPortService;
  /** Tokens of one sandbox. */
  sandboxTokens: SandboxTokens;
  tunnels: TunnelService;
  terminals: TerminalService;
  git: GitService;
  /** Network policies of sandboxes. */
  networks: NetworkService;
  learning: Learning;
  /** Default networks and ceilings of users and teams. */
  ownerNetworks: OwnerNetworkService;
  /** Secrets of owners, and those that their sandboxes use. */
  secrets: SecretService;
  sandboxSecrets: SandboxSecrets;
  /** null without a code-hosting provider. */
  providerSecrets: ProviderSecrets | null;
  documents: DocumentService;
  /** Authorizations at the code-hosting provider; null without one. */
  authorizations: AuthorizationService | null;
  users: UserService;
  userDeletions: UserDeletions;
  teams: TeamService;
  /** Everybody's sandboxes, for admins. */
  everybody: EverybodysSandboxes;
  audit: AuditService;
  /** For operators. */
  health: HealthService;
  healthEvents: HealthEvents;
  metrics: Metrics;
  registries: RegistryService;
  keys: KeyService;
  /** Sign-ins of browsers. */
  signIns: SignInService;
  deviceSignIns: DeviceSignInService;
  /** Identities of users at the identity provider. */
  identities: LinkedIdentities;
  /** Signing in by the identity provider; null without one. */
  identityProviderSignIns: IdentityProviderSignIns | null;
  /** Applications that people have authorized. */
  apps: AuthorizedApps;
  webhooks: WebhookService;
  /** Records of the authorization server. */
  oauth: OAuthRecords;
}
