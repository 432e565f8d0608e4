/** Speed of the way out, which owners of sandboxes divide. */
import { limits } from '../../../../model/limits.ts';
import { flag } from '../../flag.ts';
import { parseLimit } from './parse-limit.ts';

export const uplinkMbps = flag({
  name: 'uplink-mbps',
  default: 'auto',
  help: "Mbit/s of the host's way out, each way, that users divide when it is full; none: not divided; auto: the link's speed",
  parse: (text, context): number | 'auto' | null =>
    text === 'auto' ? 'auto' : parseLimit(text, context, limits.quotaMax),
});
