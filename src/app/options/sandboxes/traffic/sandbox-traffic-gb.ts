/** Traffic of each sandbox in a day. */
import { limits } from '../../../../model/limits.ts';
import { flag } from '../../flag.ts';
import { parseLimit } from './parse-limit.ts';

export const sandboxTrafficGb = flag({
  name: 'sandbox-traffic-gb',
  default: 'none',
  help: 'GB of network traffic a day (UTC) of each sandbox, both ways',
  parse: (text, context) => parseLimit(text, context, limits.quotaMax),
});
