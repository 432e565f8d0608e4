/** GB that all disks of sandboxes may promise per free GB. */
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

const { min, max } = limits.disk.overcommit;

export const diskOvercommit = flag({
  name: 'disk-overcommit',
  default: String(limits.disk.overcommit.default),
  help: 'GB that all disks of sandboxes together may promise per free GB',
  parse(text, { flag }) {
    const factor = parseCount(flag, text, max);
    if (factor >= min) return factor;
    throw invalidArgument(flag, `${flag} must be at least ${min}, and '${text}' was given.`);
  },
});
