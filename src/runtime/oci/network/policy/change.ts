/**
 * Changes of policies as messages for the kernel, which the spawner sends: no nft runs for them. A change is two transactions where it
 * has new sets of grants: the first makes these, the second one changes what packets are judged by.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  addElements,
  deleteChain,
  deleteElements,
  deleteSet,
  type Element,
  flushChain,
  newChain,
} from '../netlink/changes.ts';
import type { Message } from '../netlink/message.ts';
import type { AddressPolicy } from './address-policy.ts';
import { grantChain, grantMap, ledSet, setOf } from './elements.ts';
import { ruleMessages, setMessages } from './grant-messages.ts';
import { grantSet } from './grant-text.ts';
import type { Grant, PlacesGrant } from './grants.ts';

/** An address' way from one policy to another; null where it has none. */
export interface PolicyChange {
  table: string;
  address: string;
  before: AddressPolicy | null;
  after: AddressPolicy | null;
}

/** Returns messages that make the sets which a change needs, and nothing for one that needs no new ones. */
export function messagesBefore({ table, address, before, after }: PolicyChange): Message[] {
  const chain = grantChain(address);
  const had = setsOf(chain, before?.grants ?? []);
  return [...setsOf(chain, after?.grants ?? [])].flatMap(([name, grant]) =>
    had.has(name) ? [] : setMessages({ table, name }, grant),
  );
}

/** Returns nothing for a change that is none. The sets that it needs are there. */
export function changeMessages(change: PolicyChange): Message[] {
  return [...modeMessages(change), ...portMessages(change), ...chainMessages(change)];
}

function modeMessages({ table, address, before, after }: PolicyChange): Message[] {
  if (before?.mode === after?.mode) return [];
  const element = [{ key: keyOf(address) }];
  return [
    ...(before ? deleteElements({ table, name: setOf[before.mode] }, element) : []),
    ...(after ? addElements({ table, name: setOf[after.mode] }, element) : []),
  ];
}

function portMessages({ table, address, before, after }: PolicyChange): Message[] {
  const [had, has] = [before?.ledPorts ?? [], after?.ledPorts ?? []];
  const set = { table, name: ledSet };
  const elements = (ports: number[]) => ports.map((port): Element => ({ key: keyOf(address, port) }));
  return [
    ...deleteElements(set, elements(had.filter((port) => !has.includes(port)))),
    ...addElements(set, elements(has.filter((port) => !had.includes(port)))),
  ];
}

function chainMessages({ table, address, before, after }: PolicyChange): Message[] {
  const [had, has] = [before?.grants ?? [], after?.grants ?? []];
  if (isDeepStrictEqual(had, has)) return [];
  const chain = { table, name: grantChain(address) };
  const map = { table, name: grantMap };
  const key = keyOf(address);
  const kept = setsOf(chain.name, has);
  const left = [...setsOf(chain.name, had).keys()].filter((name) => !kept.has(name));
  const cleared = [flushChain(chain), ...left.map((name) => deleteSet({ table, name }))];
  if (has.length === 0) return [...deleteElements(map, [{ key }]), ...cleared, deleteChain(chain)];
  const filled = ruleMessages(table, chain.name, has);
  if (had.length > 0) return [...cleared, ...filled];
  const verdict = { code: 'jump', chain: chain.name } as const;
  return [newChain(chain), ...filled, ...addElements(map, [{ key, verdict }])];
}

function setsOf(chain: string, grants: Grant[]): Map<string, PlacesGrant> {
  const places = grants.filter((grant) => grant.kind === 'places');
  return new Map(places.map((grant) => [grantSet(chain, grant), grant]));
}

/** Each part of a key takes four bytes. */
function keyOf(address: string, port?: number): Buffer {
  const bytes = Buffer.from(address.split('.').map(Number));
  return port === undefined ? bytes : Buffer.concat([bytes, Buffer.of(port >> 8, port & 0xff, 0, 0)]);
}
