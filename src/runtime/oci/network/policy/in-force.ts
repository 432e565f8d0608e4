/**
 * Compares the policies in the kernel with those that belong there: another program may flush a set or a chain, which cuts
 * machines off. Nobody adds addresses by mistake, so a set that should be empty is not looked at.
 */
import { tableOf } from '../../host/plan.ts';
import { type Chain, nftJson } from '../foreign-forward.ts';
import type { AddressPolicies } from './address-policy.ts';
import { grantChain, grantMap, setOf } from './elements.ts';

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
    [['map', grantMap], granted],
  ] as const) {
    const [kind, name] = list;
    if (wanted.length === 0) continue;
    if (!areEqual(await addressesIn(kind, table, name), wanted)) return false;
  }
  return true;
}

/** Lists the keys of a set or a map. */
async function addressesIn(kind: 'set' | 'map', table: string, name: string): Promise<string[]> {
  const rows = await nftJson(['list', kind, 'inet', table, name]);
  return rows
    .flatMap((row) => (row.set ?? row.map)?.elem ?? [])
    .map((element) => (Array.isArray(element) ? element[0] : element));
}

function areEqual(present: string[], wanted: string[]): boolean {
  const expected = new Set(wanted);
  return present.length === expected.size && present.every((address) => expected.has(address));
}
