/** The administration's actions that the page calls, with their types. */
import { client } from './client.ts';

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

interface Paged {
  total_pages: number;
}

const call = <Result>(action: string, parameters: object = {}) =>
  client.administration.call<Result>(action, parameters);

export const administration = {
  listUsers: () =>
    everyPage(
      (page) => call<Paged & { users: User[] }>('ListUsers', page),
      ({ users }) => users,
    ),
  createUser: (parameters: object) => call<User>('CreateUser', parameters),
  updateUser: (parameters: object) => call<User>('UpdateUser', parameters),
  disableUser: (user: string) => call<User>('DisableUser', { user }),
  enableUser: (user: string) => call<User>('EnableUser', { user }),
  listKeys: () =>
    everyPage(
      (page) => call<Paged & { keys: Key[] }>('ListKeys', page),
      ({ keys }) => keys,
    ),
  createKey: (parameters: { name: string; user?: string; expires_in_minutes?: number }) =>
    call<Key & { api_key: string }>('CreateKey', parameters),
  revokeKey: (keyId: string) => call<Key>('RevokeKey', { key_id: keyId }),
  listAudit: (parameters: object) => call<AuditPage>('ListAudit', parameters),
  verifyAudit: () => call<AuditReport>('VerifyAudit'),
  listRegistries: () => call<Registries>('ListRegistries'),
};

const MOST_PAGES = 50;

async function everyPage<Page extends Paged, Item>(
  fetchPage: (page: { page: number; page_size: number }) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let number = 1; number <= MOST_PAGES; number++) {
    const page = await fetchPage({ page: number, page_size: 100 });
    items.push(...itemsOf(page));
    if (number >= page.total_pages) break;
  }
  return items;
}
