/** Changes of a table as messages. Names are ours: none has more than the 31 characters that all kernels take. */
import { attribute, nested, number, text } from './attribute.ts';
import { type Expression, type Verdict, verdictDatum } from './expressions.ts';
import { flags, type Message, types } from './message.ts';

export interface Named {
  table: string;
  name: string;
}

/** Key of a set's element: its parts take a multiple of four bytes each. */
export interface Element {
  key: Uint8Array;
  /** Last key of a range. */
  last?: Uint8Array;
  /** In a map from keys to verdicts. */
  verdict?: Verdict;
}

/** Types of a key's two parts: nft's number and the bytes of each. The kernel knows the bytes alone. */
export type KeyTypes = readonly [KeyType, KeyType];
type KeyType = readonly [number: number, bytes: number];
export const keyTypes = { address: [7, 4], protocol: [12, 1], port: [13, 2] } as const satisfies Record<
  string,
  KeyType
>;
const TYPE_BITS = 6;

const setPart = { table: 1, name: 2, flags: 3, keyType: 4, keyBytes: 5, parts: 9, id: 10 };
const elementPart = { key: 1, data: 2, last: 10 };
const rulePart = { table: 1, chain: 2, expressions: 4 };
const RANGES_OF_PARTS = 0x4 | 0x80;
const LIST_ELEMENT = 1;
const VALUE = 1;
/** An attribute has at most 64 KiB. */
const ELEMENTS_AT_ONCE = 500;

export function newChain({ table, name }: Named): Message {
  return { type: types.newChain, flags: flags.create, body: Buffer.concat([text(1, table), text(3, name)]) };
}

export function deleteChain({ table, name }: Named): Message {
  return { type: types.deleteChain, flags: 0, body: Buffer.concat([text(1, table), text(3, name)]) };
}

/** Makes a set of ranges whose keys have two parts. Ranges that overlap are refused. */
export function newRangeSet({ table, name }: Named, key: KeyTypes): Message {
  const [[first, firstBytes], [second, secondBytes]] = key;
  const ofPart = (bytes: number) => nested(LIST_ELEMENT, number(1, bytes));
  const body = Buffer.concat([
    text(setPart.table, table),
    text(setPart.name, name),
    number(setPart.flags, RANGES_OF_PARTS),
    number(setPart.keyType, (first << TYPE_BITS) | second),
    number(setPart.keyBytes, 8),
    nested(setPart.parts, nested(2, ofPart(firstBytes), ofPart(secondBytes))),
    // Of no use where the set has a name, and not to be left out.
    number(setPart.id, 1),
  ]);
  return { type: types.newSet, flags: flags.create, body };
}

export function deleteSet({ table, name }: Named): Message {
  const body = Buffer.concat([text(setPart.table, table), text(setPart.name, name)]);
  return { type: types.deleteSet, flags: 0, body };
}

export function addElements(set: Named, elements: Element[]): Message[] {
  return elementMessages(types.newElement, flags.create, set, elements);
}

export function deleteElements(set: Named, elements: Element[]): Message[] {
  return elementMessages(types.deleteElement, 0, set, elements);
}

export function addRule({ table, name }: Named, expressions: Expression[]): Message {
  const body = Buffer.concat([
    text(rulePart.table, table),
    text(rulePart.chain, name),
    nested(rulePart.expressions, ...expressions),
  ]);
  return { type: types.newRule, flags: flags.create | flags.append, body };
}

/** Removes all rules of a chain. */
export function flushChain({ table, name }: Named): Message {
  const body = Buffer.concat([text(rulePart.table, table), text(rulePart.chain, name)]);
  return { type: types.deleteRule, flags: 0, body };
}

function elementMessages(type: number, flag: number, { table, name }: Named, elements: Element[]): Message[] {
  const pieces = [];
  for (let at = 0; at < elements.length; at += ELEMENTS_AT_ONCE) {
    const list = elements.slice(at, at + ELEMENTS_AT_ONCE).map(elementOf);
    const body = Buffer.concat([text(1, table), text(2, name), nested(3, ...list)]);
    pieces.push({ type, flags: flag, body });
  }
  return pieces;
}

function elementOf({ key, last, verdict }: Element): Buffer {
  return nested(
    LIST_ELEMENT,
    nested(elementPart.key, attribute(VALUE, key)),
    ...(last ? [nested(elementPart.last, attribute(VALUE, last))] : []),
    ...(verdict ? [nested(elementPart.data, verdictDatum(verdict))] : []),
  );
}
