/**
 * Compares the policies in the kernel with those that belong there: another program may flush a set or a chain, which cuts
 * machines off. Nobody adds addresses by mistake, so a set that should be empty is not looked at.
 */
import { tableOf } from '../host/plan.ts';
import type { Chain } from './foreign-forward.ts';
import { elementsOf } from './netlink/questions.ts';
import type { AddressPolicies } from './policy/address-policy.ts';
import { grantChain, grantMap, ledElements, ledSet, setOf } from './policy/elements.ts';

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
  for (const [name, wanted] of [
    [setOf.open, addressesWith((address) => policies.get(address)?.mode === 'open')],
    [setOf.rules, addressesWith((address) => policies.get(address)?.mode === 'rules')],
    [ledSet, ledElements(policies)],
    [grantMap, granted],
  ] as const) {
    if (wanted.length > 0 && !areEqual(await keysIn(table, name), wanted)) return false;
  }
  return true;
}

/** Lists the keys of a set or a map, those with a port as nft writes them. */
async function keysIn(table: string, name: string): Promise<string[]> {
  return (await elementsOf({ table, name })).map(({ key }) => {
    const address = key.subarray(0, 4).join('.');
    return key.length > 4 ? `${address} . ${key.readUInt16BE(4)}` : address;
  });
}

function areEqual(present: string[], wanted: string[]): boolean {
  const expected = new Set(wanted);
  return present.length === expected.size && present.every((address) => expected.has(address));
}
