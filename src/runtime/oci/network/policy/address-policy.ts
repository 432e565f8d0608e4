/**
 * Part of a network policy that the firewall decides by itself, packet by packet: all that does not depend on names. The
 * egress program decides the rest.
 */
import type { LearningPolicy, NetworkPolicy, NetworkRule } from '../../../../model/network/policy.ts';
import { parseRule } from '../../../../model/network/rule-text.ts';
import { addressOf } from '../../host/plan.ts';
import { acceptAndNote } from './packet-notes.ts';

export interface AddressPolicy {
  /** `open`: all public addresses. `rules`: what the grants accept; TCP and DNS go to the egress program. */
  mode: 'open' | 'rules';
  /** Statements of nftables, each of which accepts both directions of connections to some addresses. */
  grants: string[];
  /** Packets that grants accept are noted. */
  learns?: true;
  /** Ports whose TCP goes to the egress program, or nowhere, whatever else the policy allows. */
  ledPorts: number[];
}

const QUIC_PORT = 443;

/** Policies by address. An address without one reaches nothing. */
export type AddressPolicies = ReadonlyMap<string, AddressPolicy>;

/** Returns null for a policy under which nothing is reached. */
export function addressPolicyOf(
  policy: NetworkPolicy | LearningPolicy,
  ledPorts: number[] = [],
): AddressPolicy | null {
  switch (policy.mode) {
    case 'open':
      return { mode: 'open', grants: [], ledPorts: ledPorts.map(port) };
    case 'none':
      return null;
    case 'rules':
      return { mode: 'rules', grants: grantsOf(policy.rules, 'accept'), ledPorts: ledPorts.map(port) };
    case 'learn':
      return { mode: 'rules', grants: learningGrants(policy), ledPorts: ledPorts.map(port), learns: true };
  }
}

/** Returns policies with every kind of statement, to be tried on a kernel. */
export function samplePolicies(): AddressPolicies {
  const grants = grantsOf(parseRule('rules', 'tcp://1.1.1.1:22').rules, 'accept');
  const learning = learningGrants({ mode: 'learn', open: true, rules: [], until: Date.now() });
  return new Map([[addressOf(1), { mode: 'rules', grants: [...grants, ...learning], ledPorts: [443] }]]);
}

/**
 * While all is open, TCP still goes to the egress program, which sees names. QUIC shows none, and falls back to TCP where it is
 * refused. The kernel ends it in time, whoever else is there.
 */
function learningGrants({ open, rules, until }: LearningPolicy): string[] {
  if (!open) return grantsOf(rules, acceptAndNote);
  const inTime = `meta time < ${Math.ceil(until / 1_000)}`;
  return [
    `${inTime} meta l4proto icmp ${acceptAndNote}`,
    `${inTime} meta l4proto udp ct original proto-dst != ${QUIC_PORT} ${acceptAndNote}`,
  ];
}

/** Addresses of one protocol and port range share a statement, so that a long list costs a packet one lookup. */
function grantsOf(rules: NetworkRule[], verdict: string): string[] {
  const direct = rules.filter(isDirect);
  return [...Map.groupBy(direct, matchOf)].map(([match, group]) => {
    const addresses = [...new Set(group.map(({ address }) => checked(address)))].sort();
    return `${match.replace('ADDRESSES', `{ ${addresses.join(', ')} }`)} ${verdict}`;
  });
}

function isDirect(rule: NetworkRule): rule is NetworkRule & { address: string } {
  return rule.address !== null && ['tcp', 'udp', 'icmp'].includes(rule.protocol);
}

/** Matches the connection's first packet, whichever way the present one goes. */
function matchOf({ protocol, ports }: NetworkRule): string {
  const range = ports && ` ct original proto-dst ${port(ports[0])}-${port(ports[1])}`;
  return `meta l4proto ${protocol} ct original ip daddr ADDRESSES${range ?? ''}`;
}

/** Text from elsewhere becomes a program of nftables here, so its form is checked once more. */
function checked(address: string): string {
  if (/^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(address)) return address;
  throw new Error(`not a range of addresses: ${address}`);
}

function port(number: number): number {
  if (Number.isInteger(number) && number >= 0 && number <= 65_535) return number;
  throw new Error(`not a port: ${number}`);
}
