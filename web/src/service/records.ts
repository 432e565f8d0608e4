/** Answers of the administration's actions. */

export interface Used {
  used: number;
  limit: number | null;
  left: number | null;
}

export const quotaKinds = ['sandboxes', 'cpu', 'memory', 'disk', 'snapshots'] as const;
export type QuotaKind = (typeof quotaKinds)[number];
export type Role = 'admin' | 'member';

export interface User {
  user_id: string;
  name: string;
  email: string;
  role: Role;
  disabled: boolean;
  created_at: string | null;
  usage: Record<QuotaKind, Used>;
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
}

export interface AuditRow {
  sequence: number;
  time: string;
  action: string;
  outcome: string;
  duration_ms: number;
  user_id: string | null;
  key_id: string | null;
  sandbox_id: string | null;
  transport: string;
  client_address: string | null;
  request_id: string | null;
  count: number | null;
  hash: string;
}

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
