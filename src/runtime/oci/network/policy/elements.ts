/**
 * Policies as parts of the instance's table: two sets of addresses, one of addresses with ports that are led to the egress
 * program, and one chain of grants for each address that has some, found by a map.
 *
 * One set of all grants, keyed by source, destination and port, lost: the kernel goes through the whole of such a set for
 * each element that leaves it, half a second for one change among 10,000 elements. A chain costs what it holds.
 */
import { indexOfAddress } from '../../host/plan.ts';
import type { AddressPolicies, AddressPolicy } from './address-policy.ts';
import { grantRules, grantSets } from './grant-text.ts';

/** Name of the set that holds the addresses of each mode. */
export const setOf = { open: 'open_to', rules: 'ruled' } as const satisfies Record<
  AddressPolicy['mode'],
  string
>;

/** Name of the set of addresses with their led ports. */
export const ledSet = 'led';

/** Name of the map from addresses to their chains. */
export const grantMap = 'granted';

export function grantChain(address: string): string {
  return `grant_${indexOfAddress(address)}`;
}

/** Renders all policies, for the inside of the table. */
export function renderPolicies(policies: AddressPolicies): string {
  const granted = [...policies].filter(([, { grants }]) => grants.length > 0);
  const verdicts = granted.map(([address]) => `${address} : jump ${grantChain(address)}`);
  return [
    ...granted.flatMap(([address, { grants }]) => [
      ...grantSets(grantChain(address), grants),
      `  chain ${grantChain(address)} {\n${grantRules(grantChain(address), grants)}  }`,
    ]),
    ...(['open', 'rules'] as const).map((mode) => {
      const addresses = [...policies].flatMap(([address, policy]) => (policy.mode === mode ? address : []));
      return `  set ${setOf[mode]} { type ipv4_addr; ${elements(addresses)}}`;
    }),
    `  set ${ledSet} { type ipv4_addr . inet_service; ${elements(ledElements(policies))}}`,
    `  map ${grantMap} { type ipv4_addr : verdict; ${elements(verdicts)}}`,
  ].join('\n');
}

/** Elements of the set of led ports, as nft writes them. */
export function ledElements(policies: AddressPolicies): string[] {
  return [...policies].flatMap(([address, { ledPorts }]) => ledPorts.map((port) => `${address} . ${port}`));
}

function elements(list: string[]): string {
  return list.length === 0 ? '' : `elements = { ${list.join(', ')} }; `;
}
