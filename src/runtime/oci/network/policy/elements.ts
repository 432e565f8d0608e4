/**
 * Policies as parts of the instance's table: two sets of addresses, one of addresses with ports that are led to the egress
 * program, and one chain of grants for each address that has some, found by a map.
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
    ...granted.map(([address, { grants }]) => `  chain ${grantChain(address)} {\n${indented(grants)}  }`),
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

/** An address' way from one policy to another; null where it has none. */
export interface PolicyChange {
  table: string;
  address: string;
  before: AddressPolicy | null;
  after: AddressPolicy | null;
}

/** Returns the elements of sets that a change adds and deletes. */
export function setChanges({ table, address, before, after }: PolicyChange): SetChange[] {
  const [had, has] = [before?.ledPorts ?? [], after?.ledPorts ?? []];
  const portChange = (kind: SetChange['kind']) => (port: number) => ({
    ...{ table, set: ledSet, address, port, kind },
  });
  const ports = [
    ...had.filter((port) => !has.includes(port)).map(portChange('delete')),
    ...has.filter((port) => !had.includes(port)).map(portChange('add')),
  ];
  if (before?.mode === after?.mode) return ports;
  return [
    ...(before ? [{ table, set: setOf[before.mode], address, kind: 'delete' as const }] : []),
    ...(after ? [{ table, set: setOf[after.mode], address, kind: 'add' as const }] : []),
    ...ports,
  ];
}

export function changesGrants({ before, after }: PolicyChange): boolean {
  return (before?.grants ?? []).join() !== (after?.grants ?? []).join();
}

/** Renders a change as commands for nft. */
export function renderChange(change: PolicyChange): string {
  const moves = setChanges(change).map(
    ({ kind, table, set, address, port }) =>
      `${kind} element inet ${table} ${set} { ${port === undefined ? address : `${address} . ${port}`} }`,
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
