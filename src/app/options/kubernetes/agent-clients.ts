/** Networks that the service connects to agents from, where it is no Pod of the cluster. */
import { parseNetworks } from '../../../model/network/arrival.ts';
import { flag } from '../flag.ts';

export const agentClients = flag({
  name: 'agent-clients',
  default: 'none',
  group: 'kubernetes',
  help: 'networks that the service connects from when it is no Pod with app.kubernetes.io/name=sandhaven, or none',
  parse: (text, { flag }) => parseNetworks(flag, text),
});
