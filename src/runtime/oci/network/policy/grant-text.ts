/** Grants as text for nft, for tables that are replaced as a whole. `grant-messages.ts` says the same to the kernel itself. */
import { createHash } from 'node:crypto';
import { formatAddressRange } from '../../../../model/network/address-range.ts';
import { type Grant, type Place, type PlacesGrant, QUIC_PORT } from './grants.ts';
import { acceptNoted } from './packet-notes.ts';

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

/** Renders the sets of a chain, a line each, for the inside of the table. */
export function grantSets(chain: string, grants: Grant[]): string[] {
  return grants.flatMap((grant) =>
    grant.kind === 'places' ? `  set ${grantSet(chain, grant)} { ${setText(grant)} }` : [],
  );
}

/** Renders the rules of a chain, a line each. */
export function grantRules(chain: string, grants: Grant[]): string {
  return grants.map((grant) => `    ${ruleText(chain, grant)}\n`).join('');
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
