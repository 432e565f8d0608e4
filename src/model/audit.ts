/**
 * The audit log's rows: who did what, where, how it ended. What was said is in none: no parameters, no contents, no
 * secrets, and no text that a caller could choose.
 */
import { type ErrorCode, errorTable } from './errors.ts';

/** Which way it came; `service` is what the service notes of itself. */
export const auditTransports = ['http', 'mcp', 'ssh', 'preview', 'service'] as const;
export type AuditTransport = (typeof auditTransports)[number];

/** `cancelled`: its client left before the end. */
export type AuditOutcome = 'ok' | 'cancelled' | ErrorCode;
export const auditOutcomes = ['ok', 'cancelled', ...(Object.keys(errorTable) as ErrorCode[])] as const;

/** What is noted beside tools and administration actions. */
export const auditActions = {
  upload: 'files.upload',
  download: 'files.download',
  head: 'files.head',
  tunnelOpen: 'tunnel.open',
  tunnelClose: 'tunnel.close',
  sshLogin: 'ssh.login',
  sshLogout: 'ssh.logout',
  previewGrant: 'preview.grant',
  /** A user authorizes the service at the code-hosting provider, by browser. */
  providerAuthorize: 'provider.authorize',
  /** A start without a stop before it: the service was killed, and its last events may be missing. */
  serviceStart: 'service.start',
  serviceStop: 'service.stop',
  /** Here `count` events were not written. */
  gap: 'audit.gap',
  /** `count` rows at the beginning were removed because of their age. */
  prune: 'audit.prune',
  /** The checkpoint was gone or foreign, so rows at the end may have been cut off before this one. */
  unanchored: 'audit.unanchored',
} as const;

export interface AuditEvent {
  /** A tool, an administration action, or one of `auditActions`. */
  action: string;
  transport: AuditTransport;
  outcome: AuditOutcome;
  durationMs: number;
  /** The caller; of a gateway's visitor, the owner of the sandbox. */
  userId: string | null;
  /** Of the API key, or of the access token. */
  keyId: string | null;
  sandboxId: string | null;
  /** The other end of the connection: of a proxy, where there is one. */
  clientAddress: string | null;
  requestId: string | null;
  count: number | null;
}

/** Where the chain has come to. */
export interface ChainEnd {
  /** 0 before the first row. */
  sequence: number;
  hash: Buffer;
}

export interface AuditRow extends AuditEvent {
  /** From 1, without gaps. */
  sequence: number;
  /** When it ended, in ms since the epoch. */
  time: number;
  /** Over the hash before it and all of the row. */
  hash: Buffer;
}

/** Only rows that have all of these. */
export interface AuditFilter {
  userId?: string;
  keyId?: string;
  action?: string;
  sandboxId?: string;
  outcome?: AuditOutcome;
  /** In ms since the epoch; `until` is no longer within. */
  since?: number;
  until?: number;
  /** One action left out. */
  exceptAction?: string;
}

/** An event of the service itself. */
export function serviceEvent(action: string, count: number | null = null): AuditEvent {
  return {
    ...{ action, transport: 'service', outcome: 'ok', durationMs: 0, count },
    ...{ userId: null, keyId: null, sandboxId: null, clientAddress: null, requestId: null },
  };
}
