/** Public exports of Sandhaven's typed client. */
import type { CreateSandboxResult } from './generated.ts';

export type {
  AccessToken,
  PublicPorts,
  RevokedAccess,
  RevokeOptions,
  SandboxToken,
  SandboxTokenOptions,
} from './access.ts';
export type { BuildEvent, BuildOptions } from './builds.ts';
export type { CallOptions, DisplayedResult, Progress } from './call.ts';
export type {
  AuditLogRow,
  FollowOptions,
  NetworkLogEvent,
  NetworkLogPiece,
  SandboxChange,
  SandboxUsage,
  SnapshotProgress,
} from './changes.ts';
export type { RequestOptions, SandhavenOptions } from './connection.ts';
export {
  CodeContext,
  type ContextInfo,
  type ContextLanguage,
  type ContextOptions,
  type ContextRunOptions,
  Contexts,
} from './contexts.ts';
export { isSandhavenError, type Problem, SandhavenError } from './errors.ts';
export { readEvents, type ServerEvent } from './events.ts';
export type {
  Bytes,
  ChangedFile,
  Download,
  DownloadOptions,
  FileAttributesOptions,
  FileDetails,
  FileDetailsOptions,
  FileEntry,
  Upload,
  UploadOptions,
} from './files.ts';
export * from './generated.ts';
export type { Deadline, DeadlineOptions, Sleep, SleepOptions, UsageHistory } from './handle-options.ts';
export type { DoctorFinding, ServiceHealth, ServiceHealthSample } from './health.ts';
export type { OnOutput, OutputListeners, OutputPiece } from './output.ts';
export type { Preview } from './preview.ts';
export {
  Process,
  type ProcessEnd,
  Processes,
  type ProcessFollowOptions,
  type ProcessInfo,
  type ProcessOptions,
  type SandboxProcesses,
} from './processes.ts';
export {
  type Forks,
  SandboxCode,
  SandboxFiles,
  SandboxGit,
  SandboxHandle,
  SandboxSessions,
} from './sandbox-handle.ts';
export type { DeletedSession } from './sessions.ts';
export type { DeletedSnapshot } from './snapshots.ts';
export type { FileChange, WatchOptions } from './watching.ts';

/** A sandbox as most calls return it. */
export type Sandbox = CreateSandboxResult & {
  /** While it sleeps: since when. */
  asleep_since?: string;
};
