/**
 * The host's end of the network of one instance: the gateway address, the firewall, the DNS forwarder, the egress program
 * and the policies that these hold.
 */
import type { Log } from '../../../control/ports/index.ts';
import type { NetworkReport } from '../../../model/network/traffic.ts';
import { addressOf, type Instance, uidBaseOf } from '../host/plan.ts';
import { startDnsForwarder } from './dns/forwarder.ts';
import { resolvConf } from './dns/upstream.ts';
import { createEgress, startEgressProgram } from './egress/egress.ts';
import { createFirewall } from './firewall.ts';
import { addGatewayAddress } from './namespaces.ts';
import { createPolicies, type Policies } from './policies.ts';
import { createPolicyNotes } from './policy/notes.ts';
import { createPackets } from './policy/packets.ts';

export interface HostNetworkOptions {
  instance: Instance;
  /** Number of the slot whose address is the gateway; its first id is the user of the egress program. */
  gatewayIndex: number;
  launcherPath: string;
  egressPath: string;
  /** Arguments of the launcher that put the egress program into the fence. */
  fence: string[];
  resolvConfPath: string;
  /** Slots of sandboxes that ran before; their policies stay in force. */
  held: ReadonlyMap<string, number>;
  /** Returns the sandbox that holds the slot with this address, and the address itself for a slot that none holds. */
  holderOf(address: string): string;
  ownerOf(sandboxId: string): string;
  onNetworkEvents(events: NetworkReport[]): void;
  log: Log;
}

export interface HostNetwork {
  gateway: string;
  policies: Policies;
  /** Ends the programs; the rules and their policies stay in force. */
  close(): Promise<void>;
}

/** Applies the rules before the first link exists; running machines are never without them. */
export async function startHostNetwork(options: HostNetworkOptions): Promise<HostNetwork> {
  const { instance, gatewayIndex, held, holderOf, ownerOf, log } = options;
  const gateway = addressOf(gatewayIndex);
  const uid = uidBaseOf(gatewayIndex);
  const firewall = createFirewall(instance.id, gateway, log);
  const ofHost = resolvConf(options.resolvConfPath, gateway);
  const egress = createEgress({
    start: () => startEgressProgram({ ...options, gateway, uid }),
    lead: (target) =>
      firewall.lead(
        target && { uid, gatePort: target.gate, dnsPort: target.dns, resolvers: target.resolvers },
      ),
    // An address within a link is nothing to the program, which knows no links.
    resolvers: () => ofHost().filter((address) => !address.includes('%')),
    onEvents: options.onNetworkEvents,
    log,
  });
  const packets = createPackets({
    ...{ instanceId: instance.id, holderOf, log },
    policies: firewall.policies,
    report: options.onNetworkEvents,
  });
  const policies = createPolicies({
    ...{ firewall, egress, packets, ownerOf, log },
    notes: createPolicyNotes(instance),
    slotOf: (sandboxId) => held.get(sandboxId),
  });
  await addGatewayAddress(gateway);
  // It answers nobody until policies have begun. Once they have, an egress program may run, and nothing fails any more.
  const dns = await startDnsForwarder({
    gateway,
    isMachine: firewall.isOpen,
    ownerOf: (address) => ownerOf(holderOf(address)),
    resolvConfPath: options.resolvConfPath,
  });
  await policies.begin(held).catch(async (error) => {
    await dns.close();
    throw error;
  });
  return {
    gateway,
    policies,
    async close() {
      await policies.close();
      await egress.close();
      await packets.close();
      await firewall.close();
      await dns.close();
    },
  };
}
