/** Retention of audit rows in days; 0 keeps them forever. */
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

export const auditKeptDays = flag({
  name: 'audit-kept-days',
  default: String(limits.audit.keptDays.default),
  help: 'days that audit rows are kept; 0 keeps them forever',
  parse: (text, { flag }) => parseCount(flag, text, limits.audit.keptDays.max),
});
