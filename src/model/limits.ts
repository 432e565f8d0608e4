/** Every bound of the service, with its unit. No other file holds a number that limits a caller. */

import { credentialsLimits, identityLimits, oauthLimits, secretsLimits } from './limits/access.ts';
import { buildsLimits } from './limits/builds.ts';
import { documentsLimits } from './limits/documents.ts';
import { gatewaysLimits, gitLimits, listenersLimits, liveLimits, providerLimits } from './limits/gateways.ts';
import { healthLimits, metricsLimits, tracesLimits } from './limits/health.ts';
import { gpusLimits, hostLimits, kernelLimits, loopLimits } from './limits/host.ts';
import { imagesLimits, registriesLimits } from './limits/images.ts';
import { kubernetesLimits } from './limits/kubernetes.ts';
import {
  contextLimits,
  detachedLimits,
  insideLimits,
  readinessLimits,
  terminalsLimits,
  usageLimits,
  warmPoolLimits,
  watchingLimits,
} from './limits/machines.ts';
import { agentNetworkLimits, networkLimits, outboundLimits, webhooksLimits } from './limits/network.ts';
import { membersLimits, peopleLimits } from './limits/people.ts';
import {
  archivesLimits,
  auditLimits,
  backupsLimits,
  postgresLimits,
  replicasLimits,
} from './limits/storage.ts';
import { GiB, KiB, MiB } from './limits/units.ts';

export { GiB };

/** Grace period of a machine's stop: from SIGTERM to its PID 1 until SIGKILL. */
const stopGraceMs = 2_000;

export const limits = {
  cpu: { min: 1, max: 16, default: 2 },
  memoryGb: { min: 1, max: 64, default: 4 },
  diskGb: { min: 1, max: 200, default: 20 },
  gpu: { min: 0, max: 8, default: 0 },

  autoStopMinutes: { min: 0, default: 15 },
  /** 0 means `max`. */
  autoArchiveMinutes: { min: 0, max: 43_200, default: 10_080 },
  /** −1 disables it, 0 deletes at the stop. */
  autoDeleteMinutes: { min: -1, default: -1 },
  /** Ten years: beyond it a deadline means nothing, and sums of minutes stay exact. */
  autoMinutesMax: 5_256_000,
  /** From now until the deadline of a sandbox: at most 30 days; 0 removes it. */
  deadlineSeconds: { min: 0, max: 2_592_000 },
  /** Without activity until a sandbox sleeps: at most 30 days; 0: it never does. */
  sleepAfterSeconds: { min: 0, max: 2_592_000 },

  pageSize: { min: 1, max: 100, default: 20 },
  maxItems: { min: 1, max: 200, default: 50 },
  /** Largest page number and offset: products with a page size stay exact. */
  listPosition: 2_147_483_647,

  runCodeTimeoutSeconds: { min: 1, max: 300, default: 30 },
  runCommandTimeoutSeconds: { min: 1, max: 600, default: 60 },

  sandboxNameChars: 63,
  /** The name of an image or a snapshot. */
  imageReferenceChars: 512,
  /** Highest id of a Linux user inside: a machine has 65,536 of them. */
  linuxUserId: 65_535,
  labels: 64,
  labelKeyChars: 128,
  labelValueChars: 512,
  envVars: 256,
  envKeyChars: 256,
  envValueBytes: 64 * KiB,
  /** Total of all variables: they are sent with every command, and Linux bounds arguments and environment. */
  envTotalBytes: 256 * KiB,
  pathBytes: 4_095,
  globChars: 1_024,
  /** Of entries with all that is known of them; a depth of 0 is the path itself. */
  fileDetails: {
    maxItems: { min: 1, max: 10_000, default: 1_000 },
    depth: { min: 0, max: 64, default: 1 },
  },
  /** Extended attributes of users: of one file, names and values together, and a name without its name space. */
  fileMetadata: { entries: 64, bytes: 8 * KiB, nameBytes: 250 },
  idempotencyKeyChars: 255,
  /** Retention of the answer of an idempotent call. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,
  /** Answers of one owner; above it the oldest go early. A retry comes within minutes. */
  idempotencyKeptPerOwner: 4_096,

  jsonBodyBytes: 24 * MiB,
  /** A command is one argument of bash -c; Linux bounds one argument at 128 KiB. */
  commandBytes: 127 * KiB,
  /** Source code of one RunCode call. */
  codeBytes: 4 * MiB,
  /** A file's content in a result, before base64. */
  fileContentBytes: 16 * MiB,
  /** Per stream of a command; above it the first and the last half are kept. */
  outputBytes: MiB,
  charts: 20,
  chartBytes: 8 * MiB,
  /** Total of all charts of a run. */
  chartsTotalBytes: 32 * MiB,
  /** Data of one chart beside its picture, as JSON. */
  chartDataBytes: 512 * KiB,
  /** Values in it, those of series included, and names of values; its elements; its nesting. */
  chartValues: 262_144,
  chartKeys: 20_000,
  chartElements: 5_000,
  chartDepth: 12,
  /** Largest control frame of the agent protocol, either way. */
  agentFrameBytes: 4 * MiB,
  /** Largest data frame of the agent protocol, either way. */
  agentDataFrameBytes: 1 * MiB,

  /** Tokens of each kind that have not expired. */
  accessTokensPerSandbox: 256,
  /** Tokens of a sandbox itself: the longest life of one, and what is read as one. */
  sandboxTokens: { minutes: 30 * 1_440, chars: 80 },

  /** Operations of one sandbox waiting for their turn. */
  queuedOperations: 64,
  /** Tool calls working in one sandbox at once. */
  concurrentUses: 64,
  /** Requests and connections through gateways into one sandbox at once; below the relay bound of its agent. */
  concurrentConnections: 256,
  connections: 4_096,
  /** Idle time of a client's connection to the API before its next request. */
  apiIdleMs: 72_000,
  requestHeadersMs: 10_000,
  /** Interval of the check for late headers. */
  connectionCheckMs: 2_000,
  /** Timeout for a whole JSON body. */
  jsonBodyMs: 120_000,
  /** Silence after which an upload or a download counts as dead. */
  byteStreamIdleMs: 120_000,
  /** Time for reading the rest of a refused request, so that the client sees the error. */
  lingerMs: 5_000,
  /** Bytes of it at most. */
  lingerBytes: 128 * KiB,
  /** Grace period of calls in progress when the service stops. */
  closeGraceMs: 5_000,
  /** Grace period of calls that begin while the service waits for those. */
  lastCallsMs: 1_000,
  /** A stop that takes longer says in the log what it waits for. */
  slowStopMs: 20_000,
  eventStreamHeartbeatMs: 15_000,

  /** Text beside an MCP result's structured content. */
  mcpTextChars: 16 * KiB,
  /** Interval of heartbeats for a call that reports no progress. */
  mcpHeartbeatMs: 10_000,
  /** Interval of comments in the stream of a call: bytes alone, for proxies that end what is silent. */
  mcpKeepAliveMs: 15_000,

  ...webhooksLimits,
  ...secretsLimits,
  ...agentNetworkLimits,
  ...networkLimits,
  ...gitLimits,
  ...insideLimits,
  ...contextLimits,
  ...detachedLimits,
  ...watchingLimits,
  ...kernelLimits,
  ...kubernetesLimits,
  ...gatewaysLimits,
  ...listenersLimits,
  ...liveLimits,
  ...loopLimits,
  ...buildsLimits,
  ...imagesLimits,
  ...registriesLimits,
  ...documentsLimits,
  ...archivesLimits,
  ...backupsLimits,
  ...auditLimits,
  ...credentialsLimits,
  ...postgresLimits,
  ...providerLimits,
  ...membersLimits,
  ...metricsLimits,
  ...outboundLimits,
  ...peopleLimits,
  oauth: oauthLimits,
  ...readinessLimits,
  ...replicasLimits,
  ...terminalsLimits,
  ...usageLimits,
  ...healthLimits,
  ...warmPoolLimits,
  ...gpusLimits,
  ...hostLimits,
  ...identityLimits,
  ...tracesLimits,

  stopGraceMs,
  /** The part of it that the agent gives programs. It needs the rest to kill those that stay, to unmount and to end. */
  programsGraceMs: stopGraceMs - 500,
  /** Time for which the answer to a failed creation waits for the removal of what it has left. */
  discardAnswerMs: 5_000,
  helloTimeoutMs: 10_000,
  /** Timeout of a file operation whose length depends on the sandbox's contents. */
  fileOperationMs: 300_000,
  /** Silence of an agent, in either direction, on a stream that the other side waits for. */
  streamIdleMs: 60_000,
  /** Delay after a command's deadline until a missing report makes the agent count as lost. */
  execOverrunMs: 10_000,
  /** Processes and threads of one machine. */
  processes: 1_024,
  ptys: 256,
  openFiles: { soft: 16_384, hard: 65_536 },
  /** Total memory of all machines stays below the host's memory less this. */
  hostReserveMemoryBytes: GiB,
  /** Nothing new starts with less free disk than this. */
  hostReserveDiskBytes: 4 * GiB,
  /**
   * Freezes all machines below this; they continue at twice as much, the largest consumers later (`disk`). Written data
   * that the kernel has yet to place must still fit.
   */
  hostCriticalDiskBytes: 2 * GiB,
  diskGuardIntervalMs: 2_000,
  /** Bytes of disk for each inode of a machine's file system. */
  diskBytesPerInode: 16 * KiB,
  diskJournalMb: 32,
  /** Ready disks of the default size, created ahead of need. */
  diskPool: 4,
  /** Machines launching at once, for each core of the host. */
  launchesPerCore: 2,
  launchTimeoutMs: 30_000,
  /** Time in which no more processes of a killed machine end: a caller waits no longer. */
  teardownStuckMs: 15_000,
  /** The same of a purge, which has nothing better to do, and of a disk whose last bytes the kernel writes. */
  kernelStuckMs: 120_000,
  /** Creating, checking or growing a file system. */
  diskHelperTimeoutMs: 10 * 60_000,
  /** Writing, verifying or unpacking one archive. */
  archiveHelperTimeoutMs: 60 * 60_000,
  /** Output of a helper program on either stream. */
  helperOutputBytes: 64 * KiB,
  /** Time for retrying a connection to an agent while its queue is full or its machine is starting. */
  agentConnectTimeoutMs: 5_000,
} as const;
