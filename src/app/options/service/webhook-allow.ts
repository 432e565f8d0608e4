/** Non-public hosts and networks of receivers that webhooks may have. */
import { parseAllowedHosts } from '../../../model/network/allowed-hosts.ts';
import { flag } from '../flag.ts';

export const webhookAllow = flag({
  name: 'webhook-allow',
  default: 'none',
  help: 'hosts, host:port and networks that receivers of webhooks may be on besides public ones, or none',
  parse: (text, { flag }) => parseAllowedHosts(flag, text),
});
