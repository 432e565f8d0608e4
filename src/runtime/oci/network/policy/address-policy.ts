/**
 * Part of a network policy that the firewall decides by itself, packet by packet: all that does not depend on names. The
 * egress program decides the rest.
 */
import type { NetworkPolicy, NetworkRule } from '../../../../model/network/policy.ts';

export interface AddressPolicy {
  /** `open`: all public addresses. `rules`: what the grants accept; TCP and DNS go to the egress program. */
  mode: 'open' | 'rules';
  /** Statements of nftables, each of which accepts both directions of connections to some addresses. */
  grants: string[];
  /** Ports whose TCP goes to the egress program, or nowhere, whatever else the policy allows. */
  ledPorts: number[];
}

/** Policies by address. An address without one reaches nothing. */
export type AddressPolicies = ReadonlyMap<string, AddressPolicy>;

/** Returns null for a policy under which nothing is reached. */
export function addressPolicyOf(policy: NetworkPolicy, ledPorts: number[] = []): AddressPolicy | null {
  switch (policy.mode) {
    case 'open':
      return { mode: 'open', grants: [], ledPorts: ledPorts.map(port) };
    case 'none':
      return null;
    case 'rules':
      return { mode: 'rules', grants: grantsOf(policy.rules), ledPorts: ledPorts.map(port) };
  }
}

/** Addresses of one protocol and port range share a statement, so that a long list costs a packet one lookup. */
function grantsOf(rules: NetworkRule[]): string[] {
  const direct = rules.filter(isDirect);
  return [...Map.groupBy(direct, matchOf)].map(([match, group]) => {
    const addresses = [...new Set(group.map(({ address }) => checked(address)))].sort();
    return `${match.replace('ADDRESSES', `{ ${addresses.join(', ')} }`)} accept`;
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
