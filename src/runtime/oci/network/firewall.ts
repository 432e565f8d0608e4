/**
 * Keeps the instance's firewall in force. Another program may flush all tables at any time (reloading
 * nftables.conf does), the uplink may change, Docker may start: so the present rules are compared with the wanted
 * ones every few seconds, unless no table has changed since, and restored. Replacing the table leaves connections alone.
 *
 * A change of policies is made for all addresses that wait at its time. Where that fails, because the table is
 * not as it was left, the whole table is replaced.
 */
import type { Log } from '../../../control/ports/index.ts';
import { tableOf, trafficTableOf } from '../host/plan.ts';
import { runCommand } from './command.ts';
import {
  acceptInForeignChains,
  acceptInLegacyChains,
  type Chain,
  listChains,
  nftJson,
  withdrawFromForeignChains,
} from './foreign-forward.ts';
import { apply } from './netlink/message.ts';
import { elementsOf, generation } from './netlink/questions.ts';
import type { AddressPolicies, AddressPolicy } from './policy/address-policy.ts';
import { changeMessages, messagesBefore, type PolicyChange } from './policy/change.ts';
import type { EgressWay } from './policy/egress-chains.ts';
import { grantChain, grantMap, ledElements, ledSet, setOf } from './policy/elements.ts';
import { renderRuleset } from './ruleset.ts';
import { noteUplinks, openUplinks } from './uplinks.ts';

export interface Firewall {
  /** Applies the rules with these policies, and keeps them in force from then on. */
  start(policies: AddressPolicies): Promise<void>;
  /** Sets the policy of an address, null for none; resolves once each packet is judged by it. */
  set(address: string, policy: AddressPolicy | null): Promise<void>;
  /** Leads machines with rules to the egress program, or with null nowhere. */
  lead(way: EgressWay | null): Promise<void>;
  /** Returns the policies that are meant, by address. */
  policies(): AddressPolicies;
  /** Returns true for the address of a machine with an open network. */
  isOpen(address: string): boolean;
  /** Ends the watch; keeps the rules. */
  close(): Promise<void>;
}

const watchIntervalMs = 3_000;

export function createFirewall(instanceId: string, gateway: string, log: Log): Firewall {
  const table = tableOf(instanceId);
  let wanted = new Map<string, AddressPolicy>();
  /** Policies in the kernel, as the last transaction left them. */
  let inForce = new Map<string, AddressPolicy>();
  const changed = new Set<string>();
  let egress: EgressWay | null = null;
  /** Rules without policies, as last applied. */
  let applied = '';
  /** Number of the last change of any table before the last comparison; null where a comparison is due. */
  let compared: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Ends with the transaction that runs; the next begins after it. */
  let turn: Promise<void> = Promise.resolve();
  /** Transaction that has not begun, for all changes until then. */
  let next: Promise<void> | null = null;

  function inTurn(work: () => Promise<void>): Promise<void> {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  async function putRight(): Promise<void> {
    const guardedUplinks = noteUplinks(instanceId);
    const rules = { instanceId, gateway, guardedUplinks, egress };
    const ruleset = renderRuleset({ ...rules, policies: new Map() });
    // Without a spawner, as in tests of a table alone, every turn compares.
    const number = await generation().catch(() => null);
    const isSame = ruleset === applied;
    const chains = !isSame || number === null || number !== compared ? await listChains() : null;
    compared = null;
    if (chains && !(isSame && (await isWhole(ruleset, chains)))) {
      if (isSame) log.warn('firewall table was changed by another program; applied again');
      await replace({ ...rules, policies: wanted }, chains);
      applied = ruleset;
    }
    openUplinks(guardedUplinks);
    if (chains) await acceptInForeignChains(instanceId, chains);
    await acceptInLegacyChains(instanceId);
    compared = number;
  }

  async function isWhole(ruleset: string, chains: Chain[]): Promise<boolean> {
    const present = new Set(chains.filter((chain) => chain.table === table).map(({ name }) => name));
    return (
      chainsIn(ruleset).every((name) => present.has(name)) &&
      (await arePoliciesInForce(instanceId, inForce, chains).catch(() => false))
    );
  }

  async function replace(input: Parameters<typeof renderRuleset>[0], chains: Chain[]): Promise<void> {
    const policies = new Map(input.policies);
    changed.clear();
    applied = '';
    await replaceTable(table, renderRuleset({ ...input, policies }), chains, log);
    inForce = policies;
  }

  async function applyChanges(): Promise<void> {
    next = null;
    const changes = [...changed].map((address): PolicyChange => {
      return { table, address, before: inForce.get(address) ?? null, after: wanted.get(address) ?? null };
    });
    changed.clear();
    try {
      for (const messages of [changes.flatMap(messagesBefore), changes.flatMap(changeMessages)]) {
        if (messages.length > 0) await apply(messages);
      }
      for (const { address, after } of changes) {
        if (after) inForce.set(address, after);
        else inForce.delete(address);
      }
    } catch (error) {
      log.warn('policies could not be changed; the whole table is applied', {
        reason: String((error as Error).cause ?? error),
      });
      applied = '';
      await putRight();
    }
  }

  function watch(): void {
    timer = setTimeout(() => {
      inTurn(putRight)
        .catch((error) => log.error('firewall check failed', { reason: String(error.cause ?? error) }))
        .finally(() => timer && watch());
    }, watchIntervalMs);
    timer.unref();
  }

  return {
    async start(policies) {
      wanted = new Map(policies);
      await inTurn(putRight);
      watch();
    },

    set(address, policy) {
      if (policy) wanted.set(address, policy);
      else wanted.delete(address);
      changed.add(address);
      next ??= inTurn(applyChanges);
      return next;
    },

    lead(way) {
      egress = way;
      return inTurn(putRight);
    },

    policies: () => wanted,

    isOpen: (address) => wanted.get(address)?.mode === 'open',

    async close() {
      if (timer) clearTimeout(timer);
      timer = null;
      await turn;
    },
  };
}

/** Removes the instance's tables, and its rules in those of others. */
export async function removeFirewall(instanceId: string): Promise<void> {
  await withdrawFromForeignChains(instanceId);
  for (const table of [tableOf(instanceId), trafficTableOf(instanceId)])
    await runCommand('nft', ['-f', '-'], `add table inet ${table}\ndelete table inet ${table}\n`);
}

/**
 * Compares the policies in the kernel with those that belong there: another program may flush a set or a chain, which cuts
 * machines off. Nobody adds addresses by mistake, so a set that should be empty is not looked at.
 */
async function arePoliciesInForce(
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

// Replacement of a whole table, during which a connection goes on that both the old rules and the new ones allow.
//
// Deleting the table and making it anew in one transaction resets connections now and then. The kernel turns to new rules first, and
// shows the elements of new sets of ranges with two parts, as grants are, a moment later. So sets of grants are filled by a
// transaction before, in the same table, whose chains and map of grants stay with other contents. A table of another form, as of
// another version, is made anew.

/** Names of a table's parts. */
interface Names {
  chains: string[];
  sets: string[];
}

/** @param ruleset The whole table as text. @param chains All chains of the host. */
export async function replaceTable(table: string, ruleset: string, chains: Chain[], log: Log): Promise<void> {
  const present = chains.filter((chain) => chain.family === 'inet' && chain.table === table);
  if (present.length === 0) return makeAnew(table, ruleset);
  try {
    await changeInPlace(table, ruleset, {
      chains: present.map(({ name }) => name),
      sets: await setsIn(table),
    });
  } catch (error) {
    log.warn('the firewall table has another form, and is made anew', {
      reason: String((error as Error).cause ?? error),
    });
    await makeAnew(table, ruleset);
  }
}

/** Names of the chains in the text of a table. */
export function chainsIn(ruleset: string): string[] {
  return [...ruleset.matchAll(/^ {2}chain (\S+)/gm)].map(([, name = '']) => name);
}

async function makeAnew(table: string, ruleset: string): Promise<void> {
  await applyText(`add table inet ${table}\ndelete table inet ${table}\n${ruleset}`);
}

async function changeInPlace(table: string, ruleset: string, present: Names): Promise<void> {
  const grantSets = new Map(
    [...ruleset.matchAll(/^ {2}set (grant_\S+) .*$/gm)].map(([line, name]) => [name, line]),
  );
  const had = new Set(present.sets);
  const missing = [...grantSets].flatMap(([name, line]) => (had.has(name ?? '') ? [] : line));
  if (missing.length > 0) await applyText(`table inet ${table} {\n${missing.join('\n')}\n}\n`);
  const stays = new Set(chainsIn(ruleset));
  const chains = present.chains.filter((name) => !stays.has(name));
  const sets = present.sets.filter((name) => !grantSets.has(name));
  await applyText(
    [
      `flush table inet ${table}`,
      `add map inet ${table} ${grantMap} { type ipv4_addr : verdict; }`,
      `flush map inet ${table} ${grantMap}`,
      ...chains.map((name) => `delete chain inet ${table} ${name}`),
      ...sets.map((name) => `delete set inet ${table} ${name}`),
      ruleset,
    ].join('\n'),
  );
}

async function applyText(text: string): Promise<void> {
  await runCommand('nft', ['-f', '-'], text);
}

/** Lists sets, of which none is a map. */
async function setsIn(table: string): Promise<string[]> {
  const rows = await nftJson(['-t', 'list', 'sets']);
  return rows.flatMap(({ set }) => (set?.family === 'inet' && set.table === table ? set.name : []));
}
