/** Days that rows of the audit log stay; 0 keeps them for good. */
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

export const auditKeptDays = flag({
  name: 'audit-kept-days',
  default: String(limits.audit.keptDays.default),
  help: 'how long the audit log is kept, 0 for good',
  parse: (text, { flag }) => parseCount(flag, text, limits.audit.keptDays.max),
});
