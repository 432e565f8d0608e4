/** A sandbox as it is stored, and the words that callers use for it. */

/** The folder inside that relative paths start from. */
export const WORKSPACE = '/workspace';

export const sandboxStates = ['started', 'stopped', 'archived', 'error'] as const;
export type SandboxState = (typeof sandboxStates)[number];

export const languages = ['python', 'typescript', 'javascript'] as const;
export type Language = (typeof languages)[number];

/**
 * Work in progress on a sandbox. It is stored before the work begins and cleared when it settles, so that a
 * service that was killed in between knows what to finish. A sandbox that is `creating` is not yet visible.
 */
export type Operation =
  | 'creating'
  | 'starting'
  | 'stopping'
  | 'archiving'
  | 'restoring'
  | 'resizing'
  | 'deleting';

/** vCPUs, GiB, GiB, devices. */
export interface Resources {
  cpu: number;
  memory: number;
  disk: number;
  gpu: number;
}

/** What is known of an archive when it is written, checked again before it is restored. */
export interface ArchiveRecord {
  /** SHA-256 of the archive file, lower-case hex. */
  digest: string;
  /** HMAC-SHA-256 over sandbox id and digest with the installation's key: a foreign image is never mounted. */
  hmac: string;
  sizeBytes: number;
}

export interface Sandbox {
  id: string;
  /** null while it waits in the warm pool for an owner. */
  ownerId: string | null;
  /** Unique per owner; the id for one that has no owner yet. */
  name: string;
  /** The last settled state. */
  state: SandboxState;
  operation: Operation | null;
  stateReason: string | null;
  /** Raised whenever an operation begins; a result that carries an older one is dropped. */
  generation: number;
  /** The generation that the running machine was started with; null when none runs. */
  runGeneration: number | null;
  language: Language;
  snapshot: string | null;
  /** The reference it was made from; "base" for the standard base image. */
  image: string;
  /** Content digest of the unpacked image; the disk is only valid over exactly this one. */
  imageDigest: string;
  /** Started in the background at every start; null for none. */
  entrypoint: string[] | null;
  resources: Resources;
  /** Where a resize in progress is heading; null when none is. */
  resizeTarget: Resources | null;
  labels: Record<string, string>;
  envVars: Record<string, string>;
  autoStopMinutes: number;
  autoArchiveMinutes: number;
  autoDeleteMinutes: number;
  ephemeral: boolean;
  regionId: string;
  archive: ArchiveRecord | null;
  /** The Idempotency-Key of its creation: a retry finds it even when the service was killed before it answered. */
  creationKey: string | null;
  /** Milliseconds since the epoch, as all times here. */
  createdAt: number;
  updatedAt: number;
  lastActivityAt: number;
  startedAt: number | null;
  stoppedAt: number | null;
  archivedAt: number | null;
}

const secretKey = /token|key|secret|password|auth/i;

/** The contract's rule: a value is hidden when its key contains one of five words, anywhere, in any case. */
export function redactEnvVars(envVars: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(envVars).map(([key, value]) => [key, secretKey.test(key) ? '[redacted]' : value]),
  );
}
