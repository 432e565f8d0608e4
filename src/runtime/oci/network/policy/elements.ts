/**
 * Policies as parts of the instance's table: two sets of addresses, and one chain of grants for each address that has
 * some, found by a map.
 *
 * One set of all grants, keyed by source, destination and port, lost: the kernel goes through the whole of such a set for
 * each element that leaves it, half a second for one change among 10,000 elements. A chain costs what it holds.
 */
import { indexOfAddress } from '../../host/plan.ts';
import type { AddressPolicies, AddressPolicy } from './address-policy.ts';
import type { SetChange } from './set-messages.ts';

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

/** An address' way from one policy to another; null where it has none. */
export interface PolicyChange {
  table: string;
  address: string;
  before: AddressPolicy | null;
  after: AddressPolicy | null;
}

/** Returns the moves between sets that are part of a change. */
export function setChanges({ table, address, before, after }: PolicyChange): SetChange[] {
  if (before?.mode === after?.mode) return [];
  return [
    ...(before ? [{ table, set: setOf[before.mode], address, kind: 'delete' as const }] : []),
    ...(after ? [{ table, set: setOf[after.mode], address, kind: 'add' as const }] : []),
  ];
}

export function changesGrants({ before, after }: PolicyChange): boolean {
  return (before?.grants ?? []).join() !== (after?.grants ?? []).join();
}

/** Renders a change as commands for nft. */
export function renderChange(change: PolicyChange): string {
  const moves = setChanges(change).map(
    ({ kind, table, set, address }) => `${kind} element inet ${table} ${set} { ${address} }`,
  );
  const commands = changesGrants(change) ? [...moves, ...grantCommands(change)] : moves;
  return commands.map((command) => `${command}\n`).join('');
}

function grantCommands({ table, address, before, after }: PolicyChange): string[] {
  const chain = `inet ${table} ${grantChain(address)}`;
  const map = `inet ${table} ${grantMap}`;
  const had = (before?.grants ?? []).length > 0;
  const rules = (after?.grants ?? []).map((grant) => `add rule ${chain} ${grant}`);
  if (rules.length === 0) {
    return [`delete element ${map} { ${address} }`, `flush chain ${chain}`, `delete chain ${chain}`];
  }
  if (had) return [`flush chain ${chain}`, ...rules];
  return [`add chain ${chain}`, ...rules, `add element ${map} { ${address} : jump ${grantChain(address)} }`];
}

function elements(list: string[]): string {
  return list.length === 0 ? '' : `elements = { ${list.join(', ')} }; `;
}

function indented(statements: string[]): string {
  return statements.map((statement) => `    ${statement}\n`).join('');
}
