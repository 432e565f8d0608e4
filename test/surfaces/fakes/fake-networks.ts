/** Networks of the sandboxes in memory: the service as it is, over an engine that does nothing. */

import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import { Learning } from '../../../src/control/network/learning.ts';
import type { NetworkLog } from '../../../src/control/network/network-log.ts';
import { NetworkService } from '../../../src/control/network/network-service.ts';
import { OwnerNetworkService } from '../../../src/control/network/owner-networks.ts';
import type { OwnerNetworkStore, SandboxStore } from '../../../src/control/ports/index.ts';
import { NetworkBounds } from '../../../src/control/reach/bounds.ts';
import { Networks } from '../../../src/control/reach/networks.ts';
import { notFound } from '../../../src/model/errors.ts';
import { openNetwork, parseNetworkText } from '../../../src/model/network/setting.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';

/** Within a ceiling that leaves out `.org`. */
export function fakeNetworks(
  sandboxes: Map<string, Sandbox>,
  networkLog: NetworkLog,
  ownerNetworks: OwnerNetworkStore,
) {
  const bounds = new NetworkBounds(ownerNetworks, {
    usual: openNetwork,
    most: parseNetworkText('most', 'git,*.example.com'),
  });
  const machines: Pick<Machines, 'change'> = {
    async change(id, patch, then) {
      const sandbox = sandboxes.get(id);
      if (!sandbox) throw notFound('sandbox', 'gone');
      Object.assign(sandbox, patch(sandbox));
      await then?.(sandbox, new AbortController().signal);
      return sandbox;
    },
  };
  const networks = new Networks({
    runtime: { capabilities: { networkPolicies: true } as never, setNetwork: async () => {} },
    secrets: { of: async () => [] },
    bounds,
    inTurn: (id, work) => machines.change(id, () => null, work),
    unfinished: { add() {} },
    log: { info() {}, warn() {}, error() {} },
  });
  const store = {
    find: async (ownerId: string, wanted: string) =>
      [...sandboxes.values()].find((row) => row.ownerId === ownerId && [row.id, row.name].includes(wanted)) ??
      null,
  } as unknown as SandboxStore;
  const unfinished = new Unfinished(() => {});
  const learning = new Learning({ store, machines, networks, unfinished, clock: Date });
  return {
    networks: new NetworkService({ store, machines, networks, learning, events: networkLog, traffic: null }),
    learning,
    ownerNetworks: new OwnerNetworkService({
      ...{ store: ownerNetworks, networks, bounds },
      running: { reach: async () => {} },
    }),
  };
}
