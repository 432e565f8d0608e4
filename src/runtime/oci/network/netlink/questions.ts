/** Questions to nf_tables: numbers that tell whether anything has changed, and elements of sets. */
import { listAttributes, number, readAttributes, text } from './attribute.ts';
import type { Named } from './changes.ts';
import { ask, flags, types } from './message.ts';

export interface ListedElement {
  /** Parts of the key take a multiple of four bytes each. */
  key: Buffer;
  /** Milliseconds until it goes; null without an end. */
  expiresMs: number | null;
  /** null without a counter. */
  counter: Counter | null;
}

export interface Counter {
  packets: number;
  bytes: number;
}

const COUNTER_OBJECT = 1;
const objectPart = { table: 1, name: 2, type: 3, data: 4 };
const counterPart = { bytes: 1, packets: 2 };
const elementPart = { key: 1, expiration: 5, expression: 7 };
const expressionPart = { name: 1, data: 2 };
const ELEMENTS = 3;
const RULES_TABLE = 1;
const GENERATION = 1;
const VALUE = 1;

/** Returns the number of the last change of any table, by any program. Elements that packets add are no changes. */
export async function generation(): Promise<number> {
  const [body] = await ask({ type: types.getGeneration, flags: 0, body: Buffer.alloc(0) });
  return part(readAttributes(body ?? Buffer.alloc(0)), GENERATION).readUInt32BE();
}

/** Returns the present value of a named counter. */
export async function namedCounter({ table, name }: Named): Promise<Counter> {
  const body = Buffer.concat([
    text(objectPart.table, table),
    text(objectPart.name, name),
    number(objectPart.type, COUNTER_OBJECT),
  ]);
  const [answer] = await ask({ type: types.getObject, flags: 0, body });
  return counterIn(part(readAttributes(answer ?? Buffer.alloc(0)), objectPart.data));
}

/** Returns the number of rules in a table; 0 for one that is not there. */
export async function countRules(table: string): Promise<number> {
  const body = text(RULES_TABLE, table);
  return (await ask({ type: types.listRules, flags: flags.dump, body })).length;
}

/** Returns the elements of a set or a map. Rejects with ENOENT where there is none. */
export async function elementsOf({ table, name }: Named): Promise<ListedElement[]> {
  const body = Buffer.concat([text(1, table), text(2, name)]);
  const answers = await ask({ type: types.listElements, flags: flags.dump, body });
  return answers.flatMap(elementsIn);
}

/** Returns the elements in the body of one answer. */
export function elementsIn(answer: Buffer): ListedElement[] {
  const list = readAttributes(answer).get(ELEMENTS) ?? Buffer.alloc(0);
  return listAttributes(list).map(([, bytes]) => {
    const parts = readAttributes(bytes);
    const expiration = parts.get(elementPart.expiration);
    return {
      key: part(readAttributes(part(parts, elementPart.key)), VALUE),
      expiresMs: expiration ? Number(expiration.readBigUInt64BE()) : null,
      counter: counterOf(parts.get(elementPart.expression)),
    };
  });
}

function counterOf(expression: Buffer | undefined): Counter | null {
  if (!expression) return null;
  const parts = readAttributes(expression);
  const isCounter = part(parts, expressionPart.name).toString() === 'counter\0';
  return isCounter ? counterIn(part(parts, expressionPart.data)) : null;
}

function counterIn(bytes: Buffer): Counter {
  const parts = readAttributes(bytes);
  return {
    packets: Number(part(parts, counterPart.packets).readBigUInt64BE()),
    bytes: Number(part(parts, counterPart.bytes).readBigUInt64BE()),
  };
}

function part(parts: Map<number, Buffer>, kind: number): Buffer {
  const value = parts.get(kind);
  if (!value) throw new Error(`an answer of the kernel has no attribute ${kind}`);
  return value;
}
