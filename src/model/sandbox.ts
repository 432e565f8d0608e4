/** A stored sandbox, and its terms in the tools. */

/** Folder inside, the base of relative paths. */
export const WORKSPACE = '/workspace';

/** Form of a Linux user inside: a name, or a number as text, at most `limits.linuxUserId`. */
export const linuxUserPattern = /^([a-z_][a-z0-9_-]{0,31}|[0-9]{1,5})$/;

export const sandboxStates = ['started', 'stopped', 'archived', 'error'] as const;
export type SandboxState = (typeof sandboxStates)[number];

export const languages = ['python', 'typescript', 'javascript'] as const;
export type Language = (typeof languages)[number];
/** Those of contexts. */
export const contextLanguages = [...languages, 'bash'] as const;
export type ContextLanguage = (typeof contextLanguages)[number];

/**
 * Operation in progress on a sandbox. Stored before the work begins and cleared when it settles, so that a service that
 * was killed in between knows the rest. A sandbox that is `creating` is not yet visible.
 */
export type Operation =
  | 'creating'
  | 'starting'
  | 'stopping'
  | 'archiving'
  | 'restoring'
  | 'resizing'
  | 'deleting';

/** Settings of a built image, for all programs in sandboxes made from it. */
export interface ImageConfig {
  env: Record<string, string>;
  /** Absolute; calls that name no folder begin there, and so does the entrypoint. */
  workdir: string;
  /** As a Dockerfile that begins with it inherits them. */
  entrypoint: string[] | null;
  cmd: string[] | null;
}

/** vCPUs, GiB, GiB, devices. */
export interface Resources {
  cpu: number;
  memory: number;
  disk: number;
  gpu: number;
}

/** Place of an archive: the sandbox's folder on the host, or an object of a bucket. */
export type ArchiveLocation = { store: 'local' } | { store: 's3'; bucket: string; key: string };

/** Record of a written archive, checked again before it is restored. */
export type ArchiveRecord = ArchiveLocation & {
  /** SHA-256 of the archive's bytes, lower-case hex. */
  digest: string;
  /** HMAC-SHA-256 over sandbox id and digest with the installation's key: a foreign image is never mounted. */
  hmac: string;
  sizeBytes: number;
  /** Key that encrypts the archive; absent for a plain one. Digest and size are of the encrypted bytes. */
  keyId?: string;
};

/** The network of a sandbox as people write it. */
export interface NetworkSetting {
  mode: 'open' | 'none' | 'rules';
  /** Names of profiles; empty unless the mode is `rules`, and so are the rules. */
  profiles: string[];
  /** Rules in canonical form. */
  allow: string[];
}

export const deadlineActions = ['stop', 'delete', 'sleep'] as const;

/** A moment at which the service stops or deletes a sandbox, or puts it to sleep, whatever runs in it. */
export interface Deadline {
  /** Milliseconds since the epoch. */
  at: number;
  action: (typeof deadlineActions)[number];
}

export interface SleepSetting {
  /** Time without activity after which it sleeps; 0: never; null: as the operator has it. */
  afterSeconds: number | null;
  /** true: a use starts it when it is stopped. */
  wakes: boolean;
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
  /** The replica that carries out the operation; null without one, and where there is one process only. */
  holder: string | null;
  stateReason: string | null;
  /** Raised whenever an operation begins; a result with an older one is dropped. */
  generation: number;
  /** Generation at the start of the running machine; null when none runs. */
  runGeneration: number | null;
  language: Language;
  snapshot: string | null;
  /** Reference of its image; "base" for the standard base image. */
  image: string;
  /** Content digest of the unpacked image; the disk is valid only over exactly this one. */
  imageDigest: string;
  /** Started in the background at every start; null for none. */
  entrypoint: string[] | null;
  resources: Resources;
  /** Sizes after a resize in progress; null without one. */
  resizeTarget: Resources | null;
  /** Captured disk that its disk is put back to, in a restore in progress; null for one from its archive, and without one. */
  rollbackTo: string | null;
  labels: Record<string, string>;
  envVars: Record<string, string>;
  /** Linux user of work inside that names none; null for root. */
  user: string | null;
  /** Of the snapshot that it was made from; null for none. */
  imageConfig: ImageConfig | null;
  /** As it is meant; the installation's ceiling may allow less. */
  network: NetworkSetting;
  /** Secrets that it may use. One that its owner has deleted since counts as none. */
  secretIds: string[];
  autoStopMinutes: number;
  autoArchiveMinutes: number;
  autoDeleteMinutes: number;
  /** Beside the intervals: it does not move with activity, nor with stops and starts. */
  deadline: Deadline | null;
  /** null: nothing was set. */
  sleep: SleepSetting | null;
  ephemeral: boolean;
  regionId: string;
  archive: ArchiveRecord | null;
  /** Idempotency-Key of its creation: a retry finds it even when the service was killed before it answered. */
  creationKey: string | null;
  /** Milliseconds since the epoch, like all times here. */
  createdAt: number;
  updatedAt: number;
  lastActivityAt: number;
  startedAt: number | null;
  stoppedAt: number | null;
  archivedAt: number | null;
}

/** A sandbox as callers see it, with the time since which it sleeps; null for one that is awake. */
export type SeenSandbox = Sandbox & { asleepSince?: number | null };

const secretKey = /token|key|secret|password|auth/i;

/** Implements the contract's rule: a value is hidden when its key contains one of five words, anywhere, in any case. */
export function redactEnvVars(envVars: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(envVars).map(([key, value]) => [key, secretKey.test(key) ? '[redacted]' : value]),
  );
}
