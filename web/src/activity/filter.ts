/** Filter of the audit log; the address keeps it. */

export const periods = ['1h', '24h', '7d', '30d'] as const;
export type Period = (typeof periods)[number];

export const outcomes = [
  'ok',
  'cancelled',
  'invalid_argument',
  'ambiguous_sandbox',
  'unauthenticated',
  'authorization_required',
  'permission_denied',
  'not_found',
  'already_exists',
  'invalid_state',
  'failed_precondition',
  'too_large',
  'resource_exhausted',
  'timeout',
  'unavailable',
  'internal',
] as const;

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
