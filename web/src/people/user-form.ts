/** Values of the form of a user, and the parameters that follow from them. */
import { type QuotaKind, quotaKinds, type Role, type User } from '../service/records.ts';

export interface UserForm {
  name: string;
  email: string;
  role: Role;
  /** Empty: no limit for an existing user, the service's default for a new one. */
  quota: Record<QuotaKind, number | string>;
}

const parameterNames: Record<QuotaKind, string> = {
  sandboxes: 'quota_sandboxes',
  cpu: 'quota_cpu',
  memory: 'quota_memory_gb',
  disk: 'quota_disk_gb',
  snapshots: 'quota_snapshots',
};

const UNLIMITED = -1;

export function formOf(user: User | null): UserForm {
  const quota = quotaKinds.map((kind) => [kind, user?.usage[kind].limit ?? ''] as const);
  return {
    name: user?.name ?? '',
    email: user?.email ?? '',
    role: user?.role ?? 'member',
    quota: Object.fromEntries(quota) as UserForm['quota'],
  };
}

/** @returns only what differs from the user as it was. */
export function userParametersOf(form: UserForm, user: User | null): Record<string, string | number> {
  const before = formOf(user);
  const changed: Record<string, string | number> = {};
  for (const key of ['name', 'email', 'role'] as const) {
    if (user === null || form[key] !== before[key]) changed[key] = form[key].trim();
  }
  for (const kind of quotaKinds) {
    const limit = form.quota[kind];
    if (limit === before.quota[kind]) continue;
    changed[parameterNames[kind]] = limit === '' ? UNLIMITED : Number(limit);
  }
  return changed;
}
