/** Network of sandboxes whose creation asks for none. */
import { parseNetworkText } from '../../../model/network/setting.ts';
import { flag } from '../flag.ts';

export const defaultNetwork = flag({
  name: 'default-network',
  default: 'open',
  help: 'network of sandboxes that ask for none: open, none, or profiles and rules such as packages,https://api.example.com',
  parse: (text, { flag }) => parseNetworkText(flag, text),
});
