/** Non-public hosts and networks of Git remotes that may receive credentials. */
import { parseAllowedHosts } from '../../../model/network/allowed-hosts.ts';
import { flag } from '../flag.ts';

export const gitAllow = flag({
  name: 'git-allow',
  default: '127.0.0.0/8,::1/128',
  help: 'hosts, host:port and networks that Git remotes with credentials may be on besides public ones, or none',
  parse: (text, { flag }) => parseAllowedHosts(flag, text),
});
