/** Quota of new connections a second for each user. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaConnectionsPerSecond = flag({
  name: 'quota-connections-per-second',
  default: 'auto',
  help: "new network connections a second of each user's running sandboxes together",
  parse: parseQuota,
});
