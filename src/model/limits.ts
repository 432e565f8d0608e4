/** Every bound of the service, with its unit. Nothing elsewhere holds a number that limits a caller. */

import { auditLimits } from './limits/audit.ts';
import { documentsLimits } from './limits/documents.ts';
import { gatewaysLimits } from './limits/gateways.ts';
import { gitLimits } from './limits/git.ts';
import { gpusLimits } from './limits/gpus.ts';
import { hostLimits } from './limits/host.ts';
import { imagesLimits } from './limits/images.ts';
import { insideLimits } from './limits/inside.ts';
import { kernelLimits } from './limits/kernel.ts';
import { listenersLimits } from './limits/listeners.ts';
import { loopLimits } from './limits/loop.ts';
import { membersLimits } from './limits/members.ts';
import { networkLimits } from './limits/network.ts';
import { peopleLimits } from './limits/people.ts';
import { providerLimits } from './limits/provider.ts';
import { readinessLimits } from './limits/readiness.ts';
import { registriesLimits } from './limits/registries.ts';
import { GiB, KiB, MiB } from './limits/units.ts';

export { GiB };

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
  /** Largest page number and offset: products with a page size stay exact. */
  listPosition: 2_147_483_647,

  runCodeTimeoutSeconds: { min: 1, max: 300, default: 30 },
  runCommandTimeoutSeconds: { min: 1, max: 600, default: 60 },

  sandboxNameChars: 63,
  /** The name of an image or a snapshot. */
  imageReferenceChars: 512,
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
  /** Answers of one owner; of more, the oldest go before their time. A retry comes within minutes. */
  idempotencyKeptPerOwner: 4_096,

  jsonBodyBytes: 24 * MiB,
  /** A command travels as one argument of bash -c; Linux bounds one argument at 128 KiB. */
  commandBytes: 127 * KiB,
  /** Source code of one RunCode call. */
  codeBytes: 4 * MiB,
  /** A file's content in a result, before base64. */
  fileContentBytes: 16 * MiB,
  /** Per stream of a command; past it the first and the last half are kept. */
  outputBytes: MiB,
  charts: 20,
  chartBytes: 8 * MiB,
  /** Of all charts of a run together. */
  chartsTotalBytes: 32 * MiB,
  /** What is known of one chart beside its picture, as JSON. */
  chartDataBytes: 512 * KiB,
  /** Values in it, those of series included, and names of values; its elements; an array in an array in an object … */
  chartValues: 262_144,
  chartKeys: 20_000,
  chartElements: 5_000,
  chartDepth: 12,
  /** Largest control frame of the agent protocol, either way. */
  agentFrameBytes: 4 * MiB,
  /** Largest data frame of the agent protocol, either way. */
  agentDataFrameBytes: 1 * MiB,

  /** Of each kind, that have not expired. */
  accessTokensPerSandbox: 256,

  /** Operations of one sandbox waiting for their turn. */
  queuedOperations: 64,
  /** Tool calls working in one sandbox at once. */
  concurrentUses: 64,
  /** Requests and connections through gateways into one sandbox at once; below what its agent relays. */
  concurrentConnections: 256,
  connections: 4_096,
  /** How long a client's connection to the API waits for its next request. */
  apiIdleMs: 72_000,
  requestHeadersMs: 10_000,
  /** How often connections are looked at for headers that are late. */
  connectionCheckMs: 2_000,
  /** A JSON body must be there by then. */
  jsonBodyMs: 120_000,
  /** Silence after which an upload or a download counts as dead. */
  byteStreamIdleMs: 120_000,
  /** How long what a refused client still sends is read, so that it sees the refusal. */
  lingerMs: 5_000,
  /** How much of it at most. */
  lingerBytes: 128 * KiB,
  /** How long calls in progress may take on when the service is told to stop. */
  closeGraceMs: 5_000,
  eventStreamHeartbeatMs: 15_000,

  /** Of the text beside an MCP result's structured content. */
  mcpTextChars: 16 * KiB,
  /** A call that reports no progress for so long sends a sign of life. */
  mcpHeartbeatMs: 10_000,

  ...networkLimits,
  ...gitLimits,
  ...insideLimits,
  ...kernelLimits,
  ...gatewaysLimits,
  ...listenersLimits,
  ...loopLimits,
  ...imagesLimits,
  ...registriesLimits,
  ...documentsLimits,
  ...auditLimits,
  ...providerLimits,
  ...membersLimits,
  ...peopleLimits,
  ...readinessLimits,
  ...gpusLimits,
  ...hostLimits,

  stopGraceMs: 2_000,
  helloTimeoutMs: 10_000,
  /** For a file operation whose length depends on what is in the sandbox. */
  fileOperationMs: 300_000,
  /** How long an agent may neither send nor take a byte of a stream that the other side waits for. */
  streamIdleMs: 60_000,
  /** How long after its deadline a command may take to be reported before the agent counts as lost. */
  execOverrunMs: 10_000,
  /** Processes and threads of one machine. */
  processes: 1_024,
  ptys: 256,
  openFiles: { soft: 16_384, hard: 65_536 },
  /** All machines together stay below the host's memory less this. */
  hostReserveMemoryBytes: GiB,
  /** Nothing new is started with less free disk than this. */
  hostReserveDiskBytes: 4 * GiB,
  /**
   * Below it all machines are frozen; they go on at twice as much, those that take most of it later (`disk`). What
   * they have written and the kernel has yet to place must still fit.
   */
  hostCriticalDiskBytes: 2 * GiB,
  diskGuardIntervalMs: 2_000,
  /** Bytes of disk for each inode of a machine's file system. */
  diskBytesPerInode: 16 * KiB,
  diskJournalMb: 32,
  /** Ready disks of the default size, made ahead of need. */
  diskPool: 4,
  /** Machines being launched at once, for each core of the host. */
  launchesPerCore: 2,
  launchTimeoutMs: 30_000,
  /** From SIGKILL until nothing of a machine is left, its disk included. */
  teardownTimeoutMs: 15_000,
  /** Making, checking or growing a file system. */
  diskHelperTimeoutMs: 10 * 60_000,
  /** Writing, verifying or unpacking one archive. */
  archiveHelperTimeoutMs: 60 * 60_000,
  /** Of what a helper program writes to either stream. */
  helperOutputBytes: 64 * KiB,
  /** How long a connection to an agent is tried again while its queue is full or its machine is starting. */
  agentConnectTimeoutMs: 5_000,
} as const;
