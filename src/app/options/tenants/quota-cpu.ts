/** Quota of vCPUs for each user. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaCpu = flag({
  name: 'quota-cpu',
  default: 'auto',
  help: "vCPUs of each user's running sandboxes",
  parse: parseQuota,
});
