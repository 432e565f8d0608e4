/** Every bound of the service, with its unit. Nothing elsewhere holds a number that limits a caller. */

const KiB = 1024;
const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

export const limits = {
  cpu: { min: 1, max: 16, default: 2 },
  memoryGb: { min: 1, max: 64, default: 4 },
  diskGb: { min: 1, max: 200, default: 20 },
  gpu: { min: 0, max: 8, default: 0 },

  autoStopMinutes: { min: 0, default: 15 },
  /** 0 means `max`. */
  autoArchiveMinutes: { min: 0, max: 43_200, default: 10_080 },
  /** −1 switches it off, 0 deletes at the stop. */
  autoDeleteMinutes: { min: -1, default: -1 },
  /** Ten years: beyond it a deadline means nothing, and sums of minutes stay exact. */
  autoMinutesMax: 5_256_000,

  pageSize: { min: 1, max: 100, default: 20 },
  maxItems: { min: 1, max: 200, default: 50 },

  runCodeTimeoutSeconds: { min: 1, max: 300, default: 30 },
  runCommandTimeoutSeconds: { min: 1, max: 600, default: 60 },

  sandboxNameChars: 63,
  labels: 64,
  labelKeyChars: 128,
  labelValueChars: 512,
  envVars: 256,
  envKeyChars: 256,
  envValueBytes: 64 * KiB,
  /** All of them together: they travel with every command, and Linux bounds arguments and environment. */
  envTotalBytes: 256 * KiB,
  pathBytes: 4_095,
  globChars: 1_024,
  idempotencyKeyChars: 255,
  /** How long the answer of an idempotent call is kept. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,

  jsonBodyBytes: 24 * MiB,
  /** A command travels as one argument of bash -c; Linux bounds one argument at 128 KiB. */
  commandBytes: 127 * KiB,
  /** A file's content in a result, before base64. */
  fileContentBytes: 16 * MiB,
  /** Per stream of a command; past it the first and the last half are kept. */
  outputBytes: MiB,
  charts: 20,
  chartBytes: 8 * MiB,
  /** Largest control frame of the agent protocol, either way. */
  agentFrameBytes: 1 * MiB,

  /** Operations of one sandbox waiting for their turn. */
  queuedOperations: 64,
  /** Tool calls working in one sandbox at once. */
  concurrentUses: 64,
  concurrentRequests: 512,

  stopGraceMs: 2_000,
  helloTimeoutMs: 10_000,
  /** How long after its deadline a command may take to be reported before the agent counts as lost. */
  execOverrunMs: 10_000,
} as const;
