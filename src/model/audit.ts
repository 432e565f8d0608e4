/**
 * Rows of the audit log: the caller, the action, the sandbox, the outcome. No row holds parameters, contents, secrets,
 * or any text that a caller could choose.
 */
import { type ErrorCode, errorTable } from './errors.ts';

/** Transport of a call; `service` marks the service's own events. */
export const auditTransports = ['http', 'mcp', 'ssh', 'preview', 'service'] as const;
export type AuditTransport = (typeof auditTransports)[number];

/** `cancelled`: the client disconnected before the end. */
export type AuditOutcome = 'ok' | 'cancelled' | ErrorCode;
export const auditOutcomes = ['ok', 'cancelled', ...(Object.keys(errorTable) as ErrorCode[])] as const;

/** Actions in the log beside tools and administration actions. */
export const auditActions = {
  upload: 'files.upload',
  download: 'files.download',
  head: 'files.head',
  tunnelOpen: 'tunnel.open',
  tunnelClose: 'tunnel.close',
  /** A browser was signed in; failed attempts are not in the log. */
  signIn: 'sign_in.open',
  /** Likewise, with a passkey, or with a password. */
  signInByPasskey: 'sign_in.passkey',
  signInByPassword: 'sign_in.password',
  signOut: 'sign_in.close',
  /** A machine fetched the key that its user had approved. */
  deviceSignIn: 'sign_in.device',
  /** A user added a passkey, or set a password. */
  passkeyAdd: 'passkey.add',
  passwordSet: 'password.set',
  /** A browser was signed in by the identity provider. */
  signInByIdentityProvider: 'sign_in.provider',
  /** The identity provider has ended sign-ins. */
  signOutByIdentityProvider: 'sign_in.provider_close',
  /** A person lets an application act for them over MCP, or does not. */
  appAllow: 'app.allow',
  appDeny: 'app.deny',
  /** A user who was being deleted when the service was stopped, or could not be reached, is gone. */
  userDeleted: 'user.deleted',
  /** A sandbox, or a snapshot, of a deleted user went to an heir, a user or a team. */
  sandboxGiven: 'sandbox.given',
  snapshotGiven: 'snapshot.given',
  /** A snapshot was built from a Dockerfile, or was not. */
  snapshotBuild: 'snapshot.build',
  terminalOpen: 'terminal.open',
  terminalClose: 'terminal.close',
  /** A viewer of a process. */
  processView: 'process.view',
  processLeave: 'process.leave',
  /** A watch of files. */
  filesWatch: 'files.watch',
  filesLeave: 'files.leave',
  /** A stream of changes of the caller's sandboxes. */
  eventsOpen: 'events.open',
  eventsClose: 'events.close',
  sshLogin: 'ssh.login',
  sshLogout: 'ssh.logout',
  previewGrant: 'preview.grant',
  /** A user authorizes the service at the code-hosting provider, by browser. */
  providerAuthorize: 'provider.authorize',
  /** A start without a stop before it: the service was killed, and its last events may be missing. */
  serviceStart: 'service.start',
  serviceStop: 'service.stop',
  /** A backup of everything has left the service. */
  backup: 'service.backup',
  /** `count` events were not written here. */
  gap: 'audit.gap',
  /** `count` rows at the beginning were removed because of their age. */
  prune: 'audit.prune',
  /** The checkpoint was missing or foreign, so rows at the end may have been cut off before this one. */
  unanchored: 'audit.unanchored',
} as const;

export interface AuditEvent {
  /** A tool, an administration action, or one of `auditActions`. */
  action: string;
  transport: AuditTransport;
  outcome: AuditOutcome;
  durationMs: number;
  /** The caller; for a gateway's visitor, the owner of the sandbox, and null where that is a team. */
  userId: string | null;
  /** Id of the API key, or of the access token. */
  keyId: string | null;
  sandboxId: string | null;
  /**
   * Team that the caller acted for, or that owns the sandbox of a gateway's visitor; of an admin who reads inside, the owner,
   * also a user; of an admin who looks at another user's account or changes it, that user. Absent for none.
   */
  teamId?: string;
  /** Admin who made the key, or what the sign-in came by, for the caller. Absent for the caller's own. */
  madeBy?: string;
  /** Address of the connection's other end; of its client, behind a trusted proxy. */
  clientAddress: string | null;
  requestId: string | null;
  count: number | null;
}

/** End of the chain. */
export interface ChainEnd {
  /** 0 before the first row. */
  sequence: number;
  hash: Buffer;
}

export interface AuditRow extends AuditEvent {
  /** From 1, without gaps. */
  sequence: number;
  /** Time of the call's end, in ms since the epoch. */
  time: number;
  /** Covers the hash before it and the whole row. */
  hash: Buffer;
}

/** Matches only rows with all of these. */
export interface AuditFilter {
  /** The caller, or the user inside whose sandboxes an admin read or whose account an admin changed. */
  userId?: string;
  keyId?: string;
  action?: string;
  sandboxId?: string;
  teamId?: string;
  outcome?: AuditOutcome;
  /** In ms since the epoch; `until` is exclusive. */
  since?: number;
  until?: number;
  /** Leaves out one action. */
  exceptAction?: string;
}

/** Returns an event of the service itself. */
export function serviceEvent(action: string, count: number | null = null): AuditEvent {
  return {
    ...{ action, transport: 'service', outcome: 'ok', durationMs: 0, count },
    ...{ userId: null, keyId: null, sandboxId: null, clientAddress: null, requestId: null },
  };
}
