/** Quota of snapshots for each user. */

import { flag } from '../flag.ts';
import { parseQuota } from './parse-quota.ts';

export const quotaSnapshots = flag({
  name: 'quota-snapshots',
  default: 'auto',
  help: 'snapshots of each user; auto: members have a share of the machine, admins all of it',
  parse: parseQuota,
});
