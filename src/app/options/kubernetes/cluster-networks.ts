/** Networks of the cluster that sandboxes may not reach. */
import { parseNetworks } from '../../../model/network/arrival.ts';
import { flag } from '../flag.ts';

export const clusterNetworks = flag({
  name: 'cluster-networks',
  default: 'none',
  group: 'kubernetes',
  help: 'public networks of Pods, Services and nodes, which sandboxes may not reach; private ones they never do',
  parse: (text, { flag }) => parseNetworks(flag, text),
});
