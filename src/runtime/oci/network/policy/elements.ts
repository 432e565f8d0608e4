/**
 * Policies as parts of the instance's table: two sets of addresses, and one chain of grants for each address that has
 * some, found by a map.
 *
 * One set of all grants, keyed by source, destination and port, lost: the kernel goes through the whole of such a set for
 * each element that leaves it, half a second for one change among 10,000 elements. A chain costs what it holds.
 */
import { indexOfAddress } from '../../host/plan.ts';
import type { AddressPolicies, AddressPolicy } from './address-policy.ts';

/** Name of the set that holds the addresses of each mode. */
export const setOf = { open: 'open_to', rules: 'ruled' } as const satisfies Record<
  AddressPolicy['mode'],
  string
>;

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
    ...granted.map(([address, { grants }]) => `  chain ${grantChain(address)} {\n${indented(grants)}  }`),
    ...(['open', 'rules'] as const).map((mode) => {
      const addresses = [...policies].flatMap(([address, policy]) => (policy.mode === mode ? address : []));
      return `  set ${setOf[mode]} { type ipv4_addr; ${elements(addresses)}}`;
    }),
    `  map ${grantMap} { type ipv4_addr : verdict; ${elements(verdicts)}}`,
  ].join('\n');
}

/** Renders one address' way from one policy to another; null where it has none. */
export function renderChange(
  table: string,
  address: string,
  before: AddressPolicy | null,
  after: AddressPolicy | null,
): string {
  const commands: string[] = [];
  if (before?.mode !== after?.mode) {
    if (before) commands.push(`delete element inet ${table} ${setOf[before.mode]} { ${address} }`);
    if (after) commands.push(`add element inet ${table} ${setOf[after.mode]} { ${address} }`);
  }
  commands.push(...grantChange(table, address, before?.grants ?? [], after?.grants ?? []));
  return commands.map((command) => `${command}\n`).join('');
}

function grantChange(table: string, address: string, before: string[], after: string[]): string[] {
  if (before.join() === after.join()) return [];
  const chain = `inet ${table} ${grantChain(address)}`;
  const map = `inet ${table} ${grantMap}`;
  if (after.length === 0) {
    return [`delete element ${map} { ${address} }`, `flush chain ${chain}`, `delete chain ${chain}`];
  }
  const rules = after.map((grant) => `add rule ${chain} ${grant}`);
  if (before.length > 0) return [`flush chain ${chain}`, ...rules];
  return [`add chain ${chain}`, ...rules, `add element ${map} { ${address} : jump ${grantChain(address)} }`];
}

function elements(list: string[]): string {
  return list.length === 0 ? '' : `elements = { ${list.join(', ')} }; `;
}

function indented(statements: string[]): string {
  return statements.map((statement) => `    ${statement}\n`).join('');
}
