/**
 * Rules that lead machines with mode `rules`, and ports of secrets' hosts of any machine, to the egress program, and rules
 * that hold the program itself.
 *
 * Its ports are taken as its own only while a socket is bound to the gateway's address: after its end, another program
 * of the host may get the same port on all addresses. Queries by UDP are rewritten without a connection, so that a flood
 * of them does not fill the host's table of connections.
 */
import { isIPv6 } from 'node:net';
import { limits } from '../../../../model/limits.ts';
import { ledSet } from './elements.ts';

/** Way through the egress program. */
export interface EgressWay {
  /** User id of the program, of no other program on the host. */
  uid: number;
  gatePort: number;
  dnsPort: number;
  /** Resolvers of the host, the only private addresses that the program reaches. */
  resolvers: string[];
}

/** A way to be tried on a kernel. */
export const sampleWay: EgressWay = { uid: 1, gatePort: 1, dnsPort: 2, resolvers: [] };

/** Renders chains for the inside of the table. */
export function egressChains(machines: string, gateway: string, way: EgressWay): string {
  const { connections, newConnectionsPerSecond, newConnectionBurst } = limits.network;
  return `  chain lead {
    type nat hook prerouting priority dstnat; policy accept;
    iifname != ${machines} accept
    ip daddr != ${gateway} ip saddr . tcp dport @${ledSet} dnat ip to ${gateway}:${way.gatePort}
    ip saddr != @ruled accept
    ip daddr ${gateway} tcp dport 53 dnat ip to ${gateway}:${way.dnsPort}
    ct original ip saddr vmap @granted
    meta l4proto tcp dnat ip to ${gateway}:${way.gatePort}
  }
  chain gate {
    ct state established accept
    update @new_rate { ip saddr limit rate over ${newConnectionsPerSecond}/second burst ${newConnectionBurst} packets } drop
    add @open { ip saddr ct count over ${connections} } reject with tcp reset
    socket wildcard 0 accept
    reject with tcp reset
  }
  chain program {
    type filter hook output priority filter - 10; policy accept;
    meta skuid ${way.uid} goto program_reaches
  }
  chain program_reaches {
    oifname ${machines} ct state untracked accept
    ct direction reply accept
${resolverRules(way.resolvers)}    meta nfproto != ipv4 reject with icmpx admin-prohibited
    fib daddr type != unicast reject with icmpx admin-prohibited
    ip daddr @blocked reject with icmpx admin-prohibited
  }`;
}

/** Renders rules for the chain that chooses destinations: queries of these machines go to the program. */
export function queryRules(gateway: string, way: EgressWay): string {
  return `
    ip daddr ${gateway} udp dport 53 udp dport set ${way.dnsPort} accept
    ip daddr ${gateway} tcp dport 53 accept`;
}

/** Renders rules for the chain of packets to this host. What a machine with an open network sends to the gate was led there. */
export function arrivalRules(gateway: string, way: EgressWay): string {
  const ports = `{ ${way.gatePort}, ${way.dnsPort} }`;
  return `
    ip saddr @ruled ip daddr ${gateway} udp dport ${way.dnsPort} socket wildcard 0 accept
    ip saddr @ruled ip daddr ${gateway} tcp dport ${ports} goto gate
    ip saddr @open_to ip daddr ${gateway} tcp dport ${way.gatePort} ct status dnat goto gate`;
}

/** Renders rules for the chain of packets of this host, before connections are tracked. */
export function answerRules(machines: string, gateway: string, way: EgressWay): string {
  return `
    oifname ${machines} ip saddr ${gateway} udp sport ${way.dnsPort} udp sport set 53 notrack`;
}

function resolverRules(resolvers: string[]): string {
  return resolvers
    .map(
      (address) =>
        `    ${isIPv6(address) ? 'ip6' : 'ip'} daddr ${address} meta l4proto { tcp, udp } th dport 53 accept\n`,
    )
    .join('');
}
