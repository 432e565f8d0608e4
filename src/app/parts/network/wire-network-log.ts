/** Wires what users see of networks: the settings, the log, and the learning of rules. */
import { Learning, type LearningDependencies } from '../../../control/network/learning.ts';
import { NetworkLog } from '../../../control/network/network-log.ts';
import { NetworkService } from '../../../control/network/network-service.ts';
import type { TrafficWatch } from '../../../control/network/traffic/traffic-watch.ts';
import type { NetworkEvents } from '../../../control/ports/index.ts';
import type { Networks } from '../../../control/reach/networks.ts';
import type { Services } from '../../../control/services.ts';

export interface NetworkLogParts extends LearningDependencies {
  networks: Networks;
  traffic: Pick<TrafficWatch, 'of'> | null;
  /** null where the engine has no network policies. */
  reports: NetworkEvents | null;
}

export function wireNetworkLog({
  reports,
  ...parts
}: NetworkLogParts): Pick<Services, 'networks' | 'learning'> {
  const events = new NetworkLog(parts.clock, (id) => reports?.ownerOf(id) ?? null);
  const learning = new Learning(parts);
  reports?.onReports((pieces) => {
    events.add(pieces);
    learning.hear(pieces);
  });
  return { networks: new NetworkService({ ...parts, learning, events }), learning };
}
