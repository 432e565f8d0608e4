/**
 * Table of nftables that counts and limits the traffic of machines. It is apart from the firewall's table, which is replaced
 * as a whole again and again: counts outlive that, and a restart of the service.
 *
 * Each packet of a machine passes one chain, whatever its network: on its way out after the firewall has judged its
 * destination, on its way in as the last of all. So packets through the egress program count like forwarded ones. Addresses
 * that appear for the first time get their counter and their own rates by themselves: a creation has nothing to do here.
 */
import { limits } from '../../../../model/limits.ts';
import { bytesPerSecond, type SandboxTrafficLimits } from '../../../../model/network/traffic.ts';
import { interfacePrefix, trafficTableOf } from '../../host/plan.ts';
import { bytesRate, type Limited, objectsOf, packetsRate, rateMaps } from './limited.ts';

export type EachMachine = Pick<SandboxTrafficLimits, 'bandwidthMbps' | 'connectionsPerSecond'>;

/** Counter of all packets that a set counts, each after it is counted there: while it stands still, so do all counts. */
export const countedPackets = 'counted';

export function renderTraffic(instanceId: string, each: EachMachine, limited: Limited): string {
  const table = trafficTableOf(instanceId);
  return `add table inet ${table}
delete table inet ${table}
table inet ${table} {
${counters()}
${objectsOf(limited)
  .map(({ name, rate }) => `  limit ${name} { ${rate} }`)
  .join('\n')}
  set refused_to { type ipv4_addr; ${elements([...limited.refused])}}
${rateMaps.map((map) => renderMap(map, limited)).join('\n')}
${chains(`"${interfacePrefix(instanceId)}*"`, each)}
}
`;
}

function counters(): string {
  const size = `size ${limits.network.slots}`;
  const rate = `  set RATE { type ipv4_addr; ${size}; flags dynamic,timeout; timeout 1m; }`;
  return [
    `  set sent { type ipv4_addr; ${size}; flags dynamic; counter; }`,
    `  set received { type ipv4_addr; ${size}; flags dynamic; counter; }`,
    `  set refused { type ipv4_addr; ${size}; flags dynamic; counter; }`,
    `  counter ${countedPackets} { }`,
    ...['new_rate', 'sent_rate', 'received_rate'].map((name) => rate.replace('RATE', name)),
  ].join('\n');
}

/** A limit of this kind matches what is over it. */
function chains(machines: string, { bandwidthMbps, connectionsPerSecond }: EachMachine): string {
  const own = (direction: string, address: string) =>
    bandwidthMbps === null
      ? ''
      : `\n    update @${direction}_rate { ip ${address} limit ${bytesRate(bytesPerSecond(bandwidthMbps))} } drop`;
  return `  chain refuse_connection {
    update @refused { ip saddr counter }
    counter name ${countedPackets} drop
  }
  chain refuse {
    tcp flags & (syn | ack) != syn reject with tcp reset
    reject with icmpx admin-prohibited
  }
  chain beyond_sent {
    limit name ip saddr map @rest_sent drop
  }
  chain beyond_received {
    limit name ip daddr map @rest_received drop
  }
  chain out {
    type filter hook prerouting priority mangle + 10; policy accept;
    iifname != ${machines} accept
    ip saddr @refused_to goto refuse
    ct state new update @new_rate { ip saddr limit ${packetsRate(connectionsPerSecond)} } goto refuse_connection
    ct state new limit name ip saddr map @owner_new goto refuse_connection${own('sent', 'saddr')}
    limit name ip saddr map @owner_sent drop
    limit name ip saddr map @share_sent jump beyond_sent
    update @sent { ip saddr counter }
    counter name ${countedPackets}
  }
  chain end {
    type filter hook output priority filter - 20; policy accept;
    oifname ${machines} ip daddr @refused_to tcp flags & rst != rst reject with tcp reset
  }
  chain end_forwarded {
    type filter hook forward priority filter - 20; policy accept;
    oifname ${machines} ip daddr @refused_to drop
  }
  chain in {
    type filter hook postrouting priority srcnat + 10; policy accept;
    oifname != ${machines} accept${own('received', 'daddr')}
    limit name ip daddr map @owner_received drop
    limit name ip daddr map @share_received jump beyond_received
    update @received { ip daddr counter }
    counter name ${countedPackets}
  }`;
}

function renderMap(map: (typeof rateMaps)[number], { rates }: Limited): string {
  const entries = [...(rates.get(map) ?? [])].map(([address, { name }]) => `${address} : "${name}"`);
  return `  map ${map} { type ipv4_addr : limit; ${elements(entries)}}`;
}

function elements(list: string[]): string {
  return list.length === 0 ? '' : `elements = { ${list.join(', ')} }; `;
}
