/**
 * Compares the policies in the kernel with those that belong there: another program may flush a set or a chain, which cuts
 * machines off. Nobody adds addresses by mistake, so a set that should be empty is not looked at.
 */
import { tableOf } from '../../host/plan.ts';
import { type Chain, nftJson } from '../foreign-forward.ts';
import type { AddressPolicies } from './address-policy.ts';
import { grantChain, grantMap, ledElements, ledSet, setOf } from './elements.ts';

/** @param chains All chains of the host. */
export async function arePoliciesInForce(
  instanceId: string,
  policies: AddressPolicies,
  chains: Chain[],
): Promise<boolean> {
  const table = tableOf(instanceId);
  const addressesWith = (holds: (address: string) => boolean) => [...policies.keys()].filter(holds);
  const granted = addressesWith((address) => (policies.get(address)?.grants ?? []).length > 0);
  const names = new Set(chains.filter((chain) => chain.table === table).map(({ name }) => name));
  if (granted.some((address) => !names.has(grantChain(address)))) return false;
  for (const [list, wanted] of [
    [['set', setOf.open], addressesWith((address) => policies.get(address)?.mode === 'open')],
    [['set', setOf.rules], addressesWith((address) => policies.get(address)?.mode === 'rules')],
    [['set', ledSet], ledElements(policies)],
    [['map', grantMap], granted],
  ] as const) {
    const [kind, name] = list;
    if (wanted.length === 0) continue;
    if (!areEqual(await keysIn(kind, table, name), wanted)) return false;
  }
  return true;
}

/** Lists the keys of a set or a map, those with several parts as nft writes them. */
async function keysIn(kind: 'set' | 'map', table: string, name: string): Promise<string[]> {
  const rows = await nftJson(['list', kind, 'inet', table, name]);
  return rows
    .flatMap((row) => (row.set ?? row.map)?.elem ?? [])
    .map((element) => (Array.isArray(element) ? element[0] : element))
    .map((key) => (typeof key === 'string' ? key : key.concat.join(' . ')));
}

function areEqual(present: string[], wanted: string[]): boolean {
  const expected = new Set(wanted);
  return present.length === expected.size && present.every((address) => expected.has(address));
}
