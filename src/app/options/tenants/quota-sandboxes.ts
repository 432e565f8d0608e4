/** Quota of sandboxes for each user. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaSandboxes = flag({
  name: 'quota-sandboxes',
  default: 'auto',
  help: 'sandboxes of each user, in whatever state',
  parse: parseQuota,
});
