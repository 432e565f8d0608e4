/** Filter of the audit log; the address keeps it. */
import type { ErrorCode } from '@sandhaven/sdk';

export const periods = ['1h', '24h', '7d', '30d'] as const;
export type Period = (typeof periods)[number];

/** Outcomes of a call. The compiler holds that no code is missing. */
const all: Record<'ok' | 'cancelled' | ErrorCode, true> = {
  ok: true,
  cancelled: true,
  invalid_argument: true,
  ambiguous_sandbox: true,
  unauthenticated: true,
  authorization_required: true,
  permission_denied: true,
  not_found: true,
  already_exists: true,
  invalid_state: true,
  failed_precondition: true,
  too_large: true,
  resource_exhausted: true,
  timeout: true,
  unavailable: true,
  internal: true,
};
export const outcomes = Object.keys(all);

export interface ActivityFilter {
  since?: Period;
  user?: string;
  action?: string;
  sandbox?: string;
  outcome?: string;
}

export function readActivityFilter(search: Record<string, unknown>): ActivityFilter {
  const filter: ActivityFilter = {};
  if (periods.includes(search['since'] as Period)) filter.since = search['since'] as Period;
  for (const key of ['user', 'action', 'sandbox', 'outcome'] as const) {
    const value = search[key];
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') filter[key] = String(value);
  }
  return filter;
}

/** Parameters of ListAudit. */
export function auditParametersOf(filter: ActivityFilter, limit: number): Record<string, string | number> {
  const given = Object.entries(filter).map(([key, value]) => [key, String(value).trim()] as const);
  return { ...Object.fromEntries(given.filter(([, value]) => value !== '')), limit };
}
