/** Answers of the administration's actions. */
import type {
  AuditLogRow,
  GetSandboxResult,
  NetworkLogEvent,
  ServiceHealth,
  ServiceHealthSample,
} from '@sandhaven/sdk';

export interface Used {
  used: number;
  limit: number | null;
  left: number | null;
}

export const quotaKinds = ['sandboxes', 'cpu', 'memory', 'disk', 'snapshots'] as const;
export type QuotaKind = (typeof quotaKinds)[number];
export type Role = 'admin' | 'member' | 'viewer';

export interface User {
  user_id: string;
  name: string;
  email: string;
  role: Role;
  disabled: boolean;
  created_at: string | null;
  usage: Record<QuotaKind, Used>;
}

export interface TeamMember {
  user_id: string;
  name: string;
  email: string;
  role: 'member' | 'viewer';
}

export interface Team {
  team_id: string;
  name: string;
  members: TeamMember[];
  usage: Record<QuotaKind, Used>;
}

/** A sandbox as admins see those of others. */
export interface OwnedSandbox {
  id: string;
  name: string;
  /** A team has no email. */
  owner: { id: string; name: string; email: string | null };
  state: string;
  operation?: string;
  resources: { cpu: number; memory: number; disk: number };
  last_activity_at: string;
}

/** Numbers of things that are deleted with a user. */
export interface OwnedByUser {
  sandboxes: number;
  snapshots: number;
  secrets: number;
  webhooks: number;
  keys: number;
  teams: number;
}

export interface Key {
  key_id: string;
  name: string;
  user_id: string;
  email: string;
  state: string;
  created_at: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  /** null: all that the owner may do. */
  scopes: string[] | null;
  /** Team that it is bound to. */
  team_id: string | null;
  /** Admin who made it for the user; null: the user did. */
  created_by: { user_id: string; email: string | null } | null;
}

export type AuditRow = AuditLogRow;

export interface AuditPage {
  rows: AuditRow[];
  next_after: number;
  has_more: boolean;
}

export interface AuditReport {
  intact: boolean;
  rows_checked: number;
  end_hash: string;
  events_lost: number;
  fault_count: number;
  faults: { kind: string; sequence: number; through: number; meaning: string }[];
}

export interface Registries {
  registries: { registry: string; username: string; updated_at: string }[];
  mirrors: { registry: string; mirror: string }[];
  allowed: string[] | null;
}

/** A machine that shows a code, and waits for its user. */
export interface DeviceSignIn {
  user_code: string;
  /** The machine's own name, which anybody may choose. */
  machine: string;
  address: string;
  created_at: string;
  expires_at: string;
}

export type Health = ServiceHealth;
export type HealthSample = ServiceHealthSample;

export interface Terminal {
  terminal: string;
  created_at: string;
  cols: number;
  rows: number;
  viewers: number;
  /** In the foreground; empty when unknown. */
  program: string;
  /** A program other than the shell is in the foreground. */
  busy: boolean;
}

/** The network of a sandbox, as it is set. */
export type NetworkSetting = NonNullable<GetSandboxResult['network']>;

export interface ShownNetwork {
  network: NetworkSetting;
  /** Within the ceilings of the owner and of the installation. */
  in_force: { mode: NetworkSetting['mode']; rules: string[] };
  /** Until then the sandbox reaches all that the ceilings allow; null while it does not learn. */
  learning_until: string | null;
  /** null where it is not counted. */
  traffic: {
    sent_bytes_today: number;
    received_bytes_today: number;
    limits: { gb_per_day: number | null };
    /** End of a refusal, since the traffic of the day has been used up. */
    refused_until: string | null;
  } | null;
}

export interface NetworkProfile {
  name: string;
  description: string;
  rules: string[];
}

export interface NetworkLog {
  /** Oldest first. */
  events: NetworkLogEvent[];
  /** Number of events between these that are not kept. */
  dropped: number;
}
