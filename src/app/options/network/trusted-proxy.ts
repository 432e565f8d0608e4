/** Proxies whose X-Forwarded headers are trusted. */
import { parseNetworks } from '../../../model/network/arrival.ts';
import { flag } from '../flag.ts';

export const trustedProxies = flag({
  name: 'trusted-proxy',
  default: 'none',
  help: 'addresses and networks of proxies whose X-Forwarded headers are trusted, or none',
  parse: (text, { flag }) => parseNetworks(flag, text),
});
