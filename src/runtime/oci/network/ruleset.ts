/**
 * Firewall of one instance as text for `nft -f -`: a whole table.
 *
 * A machine with an open network reaches public IPv4 addresses and the DNS forwarder, nothing else: not the host under
 * any of its addresses, no other machine, no private or link-local network, no multicast. One with rules reaches of
 * these what its rules allow, and one without a policy nothing. Ports of secrets' hosts are reached through the egress
 * program or not at all. Each packet is judged by the policy of its moment, so a
 * change ends connections that it forbids. Nobody opens a connection to a machine, the host's own programs included.
 * Other tables may drop more; an accept here is not final.
 */
import { limits } from '../../../model/limits.ts';
import { blockedIPv4 } from '../../../model/network/public-addresses.ts';
import { interfacePrefix, tableOf } from '../host/plan.ts';
import type { AddressPolicies } from './policy/address-policy.ts';
import {
  answerRules,
  arrivalRules,
  type EgressWay,
  egressChains,
  queryRules,
} from './policy/egress-chains.ts';
import { ledSet, renderPolicies } from './policy/elements.ts';
import { noteChains, noteSetsText } from './policy/notes.ts';

export interface RulesetInput {
  instanceId: string;
  gateway: string;
  /** Interfaces whose forwarding is on for sandboxes alone: no other packet from them may be forwarded. */
  guardedUplinks: string[];
  policies: AddressPolicies;
  /** null while no egress program runs: then rules for names allow nothing. */
  egress: EgressWay | null;
}

export function renderRuleset(input: RulesetInput): string {
  const table = tableOf(input.instanceId);
  const machines = `"${interfacePrefix(input.instanceId)}*"`;
  return `table inet ${table} {
${sets()}
${noteChains()}
${renderPolicies(input.policies)}
${arrivalChains(machines, input)}
${deliveryChains(machines, input)}
${forwardChains(machines, input.guardedUplinks)}${input.egress ? `\n${egressChains(machines, input.gateway, input.egress)}` : ''}
}
`;
}

function sets(): string {
  const { slots } = limits.network;
  return `  set blocked { type ipv4_addr; flags interval; elements = { ${blockedIPv4.join(', ')} }; }
  set dns_rate { type ipv4_addr; size ${slots}; flags dynamic,timeout; timeout 1m; }
  set new_rate { type ipv4_addr; size ${slots}; flags dynamic,timeout; timeout 1m; }
  set open { type ipv4_addr; size ${slots}; flags dynamic; }
  set open_dns { type ipv4_addr; size ${slots}; flags dynamic; }
${noteSetsText()}`;
}

/**
 * Chains that run before any other table can rewrite a destination. A source is genuine when the route back to it
 * leaves through the interface of its arrival. Options of IP (a longer header) may lead a packet on from where it is sent to.
 * Refused destinations get an answer, so that a program fails at once.
 */
function arrivalChains(machines: string, { gateway, egress }: RulesetInput): string {
  const { dnsQueriesPerSecond, dnsQueryBurst } = limits.network;
  return `  chain arrive {
    type filter hook prerouting priority raw; policy accept;
    iifname != ${machines} ip daddr ${gateway} drop
    iifname != ${machines} accept
    meta nfproto != ipv4 drop
    ip hdrlength != 5 drop
    fib saddr . iif oif missing drop
    ip daddr ${gateway} udp dport 53 update @dns_rate { ip saddr limit rate over ${dnsQueriesPerSecond}/second burst ${dnsQueryBurst} packets } drop
    ip daddr ${gateway} udp dport 53 notrack accept
    ip daddr ${gateway} tcp dport 53 tcp flags & (syn | ack) == syn update @dns_rate { ip saddr limit rate over ${dnsQueriesPerSecond}/second burst ${dnsQueryBurst} packets } drop
  }
  chain choose {
    type filter hook prerouting priority mangle; policy accept;
    iifname != ${machines} accept
    ip saddr != @open_to ip saddr != @ruled goto refuse
    ip saddr @open_to ip daddr ${gateway} meta l4proto { tcp, udp } th dport 53 accept${egress ? queryRules(gateway, egress) : ''}
    fib daddr type != unicast goto refuse_place
    ip daddr @blocked goto refuse_place
  }
  chain refuse_place {
    ip saddr @ruled jump note_refused
    reject with icmpx admin-prohibited
  }
  chain refuse {
    ip saddr @ruled jump note_refused
    tcp flags & (syn | ack) != syn reject with tcp reset
    reject with icmpx admin-prohibited
  }`;
}

function deliveryChains(machines: string, { gateway, egress }: RulesetInput): string {
  return `  chain deliver {
    type filter hook input priority filter - 10; policy accept;
    iifname != ${machines} accept
    ip daddr ${gateway} udp dport 53 accept
    ip daddr ${gateway} tcp dport 53 ct state established accept
    ip daddr ${gateway} tcp dport 53 add @open_dns { ip saddr ct count over ${limits.network.dnsConnectionsPerSandbox * 2} } drop
    ip daddr ${gateway} tcp dport 53 ct state new accept${egress ? arrivalRules(gateway, egress) : ''}
    drop
  }
  chain answer {
    type filter hook output priority raw; policy accept;
    oifname ${machines} ip saddr ${gateway} udp sport 53 notrack${egress ? answerRules(machines, gateway, egress) : ''}
  }
  chain depart {
    type filter hook output priority filter - 10; policy accept;
    oifname ${machines} ct state new drop
  }`;
}

function forwardChains(machines: string, guardedUplinks: string[]): string {
  const { connections, newConnectionsPerSecond, newConnectionBurst } = limits.network;
  const uplinks = guardedUplinks.map((name) => `"${name}"`).join(', ');
  const guard =
    uplinks === '' ? '' : `\n    iifname { ${uplinks} } ct state != { established, related } drop`;
  return `  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    oifname ${machines} ip daddr . tcp sport @${ledSet} drop
    oifname ${machines} ip daddr @open_to ct state established,related accept
    oifname ${machines} ip daddr @ruled meta l4proto icmp ct state related accept
    oifname ${machines} ip daddr @ruled ct state established,related ct original ip saddr vmap @granted
    oifname ${machines} drop${guard}
    iifname != ${machines} accept
    ip daddr @blocked drop
    ip saddr . tcp dport @${ledSet} goto refuse
    tcp flags syn tcp option maxseg size set rt mtu
    ip saddr @open_to ct state established,related accept
    ip saddr @ruled ct state established,related ct original ip saddr vmap @granted
    ct state established,related goto refuse
    ct state != new drop
    meta l4proto != { tcp, udp, icmp } drop
    meta l4proto icmp icmp type != echo-request drop
    update @new_rate { ip saddr limit rate over ${newConnectionsPerSecond}/second burst ${newConnectionBurst} packets } drop
    add @open { ip saddr ct count over ${connections} } reject with icmpx admin-prohibited
    ip saddr @open_to accept
    ip saddr @ruled ct original ip saddr vmap @granted
    goto refuse
  }
  chain leave {
    type nat hook postrouting priority srcnat; policy accept;
    iifname ${machines} masquerade
  }`;
}
