/** Follows changes of the caller's sandboxes. */
import type { Connection } from './connection.ts';
import type { ServerEvent } from './events.ts';
import type { GetSandboxResult, GetSnapshotResult } from './generated.ts';
import type { ServiceHealth } from './health.ts';
import { readReconnecting } from './reconnecting.ts';

export type SandboxChange =
  /** Changes may have been missed: list sandboxes again, and snapshots and rows of the audit log. Also the first of all. */
  | { type: 'refresh' }
  | { type: 'sandbox'; sandbox: GetSandboxResult }
  | { type: 'deleted'; id: string }
  /** A snapshot was made, changed or deleted, or its creation made progress; only with `snapshots`. */
  | { type: 'snapshot'; snapshot: GetSnapshotResult }
  | { type: 'snapshot_deleted'; id: string }
  | ({ type: 'snapshot_progress' } & SnapshotProgress)
  /** Current use of started sandboxes, every few seconds; only with `usage`. */
  | { type: 'usage'; sandboxes: SandboxUsage[] }
  /** New rows of the audit log, oldest first; only with `audit`. */
  | { type: 'audit'; rows: AuditLogRow[] }
  /** Too many rows came at once, or they could not be read: list them. */
  | { type: 'audit_missed' }
  /** New events of a sandbox's network log, oldest first, and the number of lost ones; only with `network`. */
  | ({ type: 'network' } & NetworkLogPiece)
  /** Health of the service, every few seconds; only with `health`. */
  | { type: 'health'; health: ServiceHealth };

/** Progress of a snapshot that is being made; null: not known. */
export interface SnapshotProgress {
  id: string;
  message: string;
  done_bytes: number | null;
  total_bytes: number | null;
}

/** A row as the action ListAudit gives it. */
export interface AuditLogRow {
  sequence: number;
  time: string;
  action: string;
  outcome: string;
  duration_ms: number;
  user_id: string | null;
  key_id: string | null;
  /** Team that the caller acted for, or that owns the sandbox of a visitor. */
  team_id: string | null;
  /** Admin who made the key, or what the sign-in came by, for the caller. */
  made_by: string | null;
  sandbox_id: string | null;
  transport: string;
  client_address: string | null;
  request_id: string | null;
  count: number | null;
  hash: string;
}

/** New events of one sandbox's network. */
export interface NetworkLogPiece {
  /** Id of the sandbox. */
  sandbox: string;
  events: NetworkLogEvent[];
  /** Number of events between these that are not kept. */
  dropped: number;
}

/** An event as the action GetNetworkLog gives it. */
export interface NetworkLogEvent {
  sequence: number;
  time: string;
  kind: string;
  name: string | null;
  address: string | null;
  port: number | null;
  allowed: boolean;
  rule: string | null;
  why: string | null;
  /** true: the end of an allowed connection, with its bytes. */
  ended: boolean;
  sent: number;
  received: number;
}

/** null: not known, or not yet. */
export interface SandboxUsage {
  id: string;
  /** Processors in use on average since the sample before, and their part of the limit. */
  cpu: { cores: number | null; limit: number; percent: number | null };
  memory: { bytes: number | null; limit_bytes: number };
  disk: { bytes: number | null; limit_bytes: number };
}

export interface FollowOptions {
  /** Ends the stream; its reason is thrown. */
  signal?: AbortSignal;
  /** Also the use of started sandboxes, which the service measures while the stream is open. */
  usage?: boolean;
  /** Also changes of snapshots, and the progress of those that are being made. */
  snapshots?: boolean;
  /** Also new rows of the audit log: all for an admin, their own for a member. */
  audit?: boolean;
  /** Name or id of a sandbox: also new events of its network log. */
  network?: string;
  /** Also the health of the service, for admins: that of the replica with the stream. */
  health?: boolean;
}

/** Throws `SandhavenError` when another attempt makes no sense, such as with a key that is not valid. */
export function changesOf(
  connection: Connection,
  { signal, usage = false, snapshots = false, audit = false, network, health = false }: FollowOptions,
): AsyncGenerator<SandboxChange, never, undefined> {
  const choices = Object.entries({ usage, snapshots, audit, health });
  const chosen = choices.filter(([, isWanted]) => isWanted).map(([name]) => `${name}=true`);
  if (network !== undefined) chosen.push(`network=${encodeURIComponent(network)}`);
  const path = chosen.length === 0 ? '/v1/events' : `/v1/events?${chosen.join('&')}`;
  return readReconnecting(connection, { path: () => path, read: changeOf, signal });
}

function changeOf({ event, data }: ServerEvent): SandboxChange | null {
  if (event === 'ready' || event === 'refresh') return { type: 'refresh' };
  if (event === 'sandbox') return { type: 'sandbox', sandbox: JSON.parse(data) as GetSandboxResult };
  if (event === 'sandbox_deleted') return { type: 'deleted', id: (JSON.parse(data) as { id: string }).id };
  if (event === 'snapshot') return { type: 'snapshot', snapshot: JSON.parse(data) as GetSnapshotResult };
  if (event === 'snapshot_deleted') return { type: event, id: (JSON.parse(data) as { id: string }).id };
  if (event === 'snapshot_progress') return { type: event, ...(JSON.parse(data) as SnapshotProgress) };
  if (event === 'audit') return { type: 'audit', ...(JSON.parse(data) as { rows: AuditLogRow[] }) };
  if (event === 'health') return { type: 'health', health: JSON.parse(data) as ServiceHealth };
  if (event === 'network') return { type: event, ...(JSON.parse(data) as NetworkLogPiece) };
  if (event === 'audit_missed') return { type: 'audit_missed' };
  if (event === 'usage') return { type: 'usage', ...(JSON.parse(data) as { sandboxes: SandboxUsage[] }) };
  return null;
}
