/** New connections of each sandbox. */
import { invalidArgument } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { flag } from '../../flag.ts';
import { parseLimit } from './parse-limit.ts';

const most = limits.network.newConnectionsPerSecond;

export const sandboxConnectionsPerSecond = flag({
  name: 'sandbox-connections-per-second',
  default: String(most),
  help: `network connections that each sandbox may open a second, at most ${most}`,
  parse(text, context) {
    const count = parseLimit(text, context, most);
    if (count !== null) return count;
    throw invalidArgument(context.flag, `${context.flag} must be a number from 1 to ${most}.`);
  },
});
