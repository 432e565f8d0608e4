/** Quota of bandwidth for each user, in Mbit/s each way. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaBandwidthMbps = flag({
  name: 'quota-bandwidth-mbps',
  default: 'auto',
  help: "Mbit/s, each way, of each user's running sandboxes together",
  parse: parseQuota,
});
