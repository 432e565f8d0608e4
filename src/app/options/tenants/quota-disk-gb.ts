/** Quota of disk for each user, in GB. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaDiskGb = flag({
  name: 'quota-disk-gb',
  default: 'auto',
  help: "GB of disk of each user's sandboxes, in whatever state",
  parse: parseQuota,
});
