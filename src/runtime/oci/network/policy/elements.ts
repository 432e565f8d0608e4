/**
 * Policies as text for nft, for tables that are replaced as a whole: two sets of addresses, one of addresses with ports that
 * are led to the egress program, and one chain of grants for each address that has some, found by a map. `change.ts` says the
 * same to the kernel itself.
 *
 * One set of all grants, keyed by source, destination and port, lost: the kernel goes through the whole of such a set for each
 * element that leaves it, half a second for one change among 10,000 elements. A chain costs what it holds.
 */
import { createHash } from 'node:crypto';
import { formatAddressRange } from '../../../../model/network/public-addresses.ts';
import { indexOfAddress } from '../../host/plan.ts';
import type { AddressPolicies, AddressPolicy } from './address-policy.ts';
import { type Grant, type Place, type PlacesGrant, QUIC_PORT } from './grants.ts';
import { acceptNoted } from './notes.ts';

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

const DIGEST_CHARACTERS = 18;

/**
 * Name of the set with a grant's places. It follows from what the set holds, so other places get another set, which is filled before a
 * rule looks in it: the kernel shows the elements of such a set a moment after the rules of the same transaction.
 */
export function grantSet(chain: string, grant: PlacesGrant): string {
  const digest = createHash('sha256')
    .update(`${grant.protocol} ${setText(grant)}`)
    .digest('base64url');
  return `${chain}_${digest.slice(0, DIGEST_CHARACTERS)}`;
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

/** Renders the sets of a chain, a line each, for the inside of the table. */
function grantSets(chain: string, grants: Grant[]): string[] {
  return grants.flatMap((grant) =>
    grant.kind === 'places' ? `  set ${grantSet(chain, grant)} { ${setText(grant)} }` : [],
  );
}

/** Renders the rules of a chain, a line each. */
function grantRules(chain: string, grants: Grant[]): string {
  return grants.map((grant) => `    ${ruleText(chain, grant)}\n`).join('');
}

function elements(list: string[]): string {
  return list.length === 0 ? '' : `elements = { ${list.join(', ')} }; `;
}

function setText({ protocol, places }: PlacesGrant): string {
  const second = protocol === 'icmp' ? 'inet_proto' : 'inet_service';
  const elements = places.map((place) => `${formatAddressRange(place.range)} . ${secondOf(place)}`);
  return `type ipv4_addr . ${second}; flags interval; elements = { ${elements.join(', ')} };`;
}

function secondOf({ ports }: Place): string {
  return ports ? ports.join('-') : 'icmp';
}

/** Matches the connection's first packet, whichever way the present one goes. */
function ruleText(chain: string, grant: Grant): string {
  const { protocol } = grant;
  if (grant.kind === 'timed') {
    const quic = protocol === 'udp' ? ` ct original proto-dst != ${QUIC_PORT}` : '';
    return `meta time < ${grant.until} meta l4proto ${protocol}${quic} goto ${acceptNoted}`;
  }
  const set = grantSet(chain, grant);
  const verdict = grant.noted ? `goto ${acceptNoted}` : 'accept';
  if (protocol === 'icmp') return `ct original ip daddr . ct original protocol @${set} ${verdict}`;
  return `meta l4proto ${protocol} ct original ip daddr . ct original proto-dst @${set} ${verdict}`;
}
