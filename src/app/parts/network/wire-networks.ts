/** Wires networks of sandboxes, and the secrets that requests of sandboxes carry through them. */
import type { Unfinished } from '../../../concurrency/unfinished.ts';
import type { Machines } from '../../../control/lifecycle/machines.ts';
import { type InstallationNetworks, NetworkBounds } from '../../../control/network/bounds.ts';
import { type NetworkDependencies, Networks } from '../../../control/network/networks.ts';
import { OwnerNetworkService } from '../../../control/network/owner-networks.ts';
import { RunningSandboxes } from '../../../control/network/running-sandboxes.ts';
import type { TrafficWatch } from '../../../control/network/traffic/traffic-watch.ts';
import type {
  AgentLink,
  Clock,
  Log,
  NetworkEvents,
  Runtime,
  SandboxStore,
  Store,
} from '../../../control/ports/index.ts';
import { SandboxSecrets } from '../../../control/secrets/sandbox-secrets.ts';
import { SandboxTrust } from '../../../control/secrets/sandbox-trust.ts';
import { SecretActivity } from '../../../control/secrets/secret-activity.ts';
import { SecretService } from '../../../control/secrets/secret-service.ts';
import { SecretUses } from '../../../control/secrets/secret-uses.ts';
import { wireNetworkLog } from './wire-network-log.ts';

export interface NetworkParts {
  store: Pick<Store, 'secrets' | 'serviceSecrets' | 'ownerNetworks'>;
  sandboxes: SandboxStore;
  runtime: Runtime;
  agent: AgentLink;
  installation: InstallationNetworks;
  /** Used once it is made, which needs the networks. */
  machines: Pick<Machines, 'change'>;
  /** null where the engine has no network policies. */
  reports: NetworkEvents | null;
  /** null where nobody counts it. */
  traffic: Pick<TrafficWatch, 'of'> | null;
  unfinished: Unfinished;
  clock: Clock;
  log: Log;
}

export function wireNetworks(parts: NetworkParts) {
  const { store, sandboxes, runtime, agent, installation, machines, reports } = parts;
  const { traffic, unfinished, clock, log } = parts;
  const secretUses = new SecretUses({ store: store.secrets, serviceSecrets: store.serviceSecrets, clock });
  const inTurn: NetworkDependencies['inTurn'] = (id, work) => machines.change(id, () => null, work);
  const bounds = new NetworkBounds(store.ownerNetworks, installation);
  const networks = new Networks({ runtime, secrets: secretUses, bounds, inTurn, unfinished, log });
  const trust = new SandboxTrust({ runtime, agent, networks, inTurn, unfinished, log });
  const running = new RunningSandboxes({ machines, networks, unfinished, log });
  const sandboxSecrets = new SandboxSecrets({
    ...{ store: store.secrets, sandboxes, runtime, trust, machines, networks },
  });
  const secretActivity = new SecretActivity({ store: store.secrets, log });
  reports?.onReports((pieces) => secretActivity.hear(pieces));
  return {
    ...{ networks, secretUses, trust, secretActivity },
    services: {
      ...wireNetworkLog({ store: sandboxes, ...{ machines, networks, traffic, unfinished, clock, reports } }),
      secrets: new SecretService({ store: store.secrets, runtime, running, clock }),
      sandboxSecrets,
      ownerNetworks: new OwnerNetworkService({ store: store.ownerNetworks, networks, bounds, running }),
    },
  };
}
