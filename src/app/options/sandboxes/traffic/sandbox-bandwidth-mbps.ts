/** Bandwidth of each sandbox. */
import { limits } from '../../../../model/limits.ts';
import { flag } from '../../flag.ts';
import { parseLimit } from './parse-limit.ts';

export const sandboxBandwidthMbps = flag({
  name: 'sandbox-bandwidth-mbps',
  default: 'none',
  help: 'Mbit/s that each sandbox sends at most, and receives at most',
  parse: (text, context) => parseLimit(text, context, limits.quotaMax),
});
