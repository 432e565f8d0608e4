/** Quota of memory for each user, in GB. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaMemoryGb = flag({
  name: 'quota-memory-gb',
  default: 'auto',
  help: "GB of memory of each user's running sandboxes",
  parse: parseQuota,
});
