/** Grants as text for nft, for tables that are replaced as a whole. `grant-messages.ts` says the same to the kernel itself. */
import { formatAddressRange } from '../../../../model/network/address-range.ts';
import { type Grant, type Place, type PlacesGrant, QUIC_PORT } from './grants.ts';
import { acceptNoted } from './packet-notes.ts';

/** Name of the set with the places of a chain's grant, by its number there. */
export function grantSet(chain: string, number: number): string {
  return `${chain}_${number}`;
}

/** Renders the sets of a chain, a line each, for the inside of the table. */
export function grantSets(chain: string, grants: Grant[]): string[] {
  return grants.flatMap((grant, number) =>
    grant.kind === 'places' ? `  set ${grantSet(chain, number)} { ${setText(grant)} }` : [],
  );
}

/** Renders the rules of a chain, a line each. */
export function grantRules(chain: string, grants: Grant[]): string {
  return grants.map((grant, number) => `    ${ruleText(grant, grantSet(chain, number))}\n`).join('');
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
function ruleText(grant: Grant, set: string): string {
  const { protocol } = grant;
  if (grant.kind === 'timed') {
    const quic = protocol === 'udp' ? ` ct original proto-dst != ${QUIC_PORT}` : '';
    return `meta time < ${grant.until} meta l4proto ${protocol}${quic} goto ${acceptNoted}`;
  }
  const verdict = grant.noted ? `goto ${acceptNoted}` : 'accept';
  if (protocol === 'icmp') return `ct original ip daddr . ct original protocol @${set} ${verdict}`;
  return `meta l4proto ${protocol} ct original ip daddr . ct original proto-dst @${set} ${verdict}`;
}
