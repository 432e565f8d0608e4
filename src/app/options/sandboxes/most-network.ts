/** Ceiling of the networks of all sandboxes. */
import { parseNetworkText } from '../../../model/network/setting.ts';
import { flag } from '../flag.ts';

export const mostNetwork = flag({
  name: 'most-network',
  default: 'open',
  help: 'the most that any sandbox reaches, whatever its own network: open, none, or profiles and rules',
  parse: (text, { flag }) => parseNetworkText(flag, text),
});
