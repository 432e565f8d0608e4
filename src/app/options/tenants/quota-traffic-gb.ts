/** Quota of traffic for each user, in GB a day. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaTrafficGb = flag({
  name: 'quota-traffic-gb',
  default: 'auto',
  help: "GB of network traffic a day (UTC) of each user's sandboxes, both ways",
  parse: parseQuota,
});
