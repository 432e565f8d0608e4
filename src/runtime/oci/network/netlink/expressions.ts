/**
 * Expressions of rules, as many as grants need: each loads into a register, compares one, or decides. A failed comparison ends
 * the rule. The first register is 1; a second part of a key goes into the four bytes behind it.
 */
import { attribute, nested, number, text } from './attribute.ts';

const FIRST = 1;
const SECOND = 9;
const VERDICT = 0;
const list = { element: 1 };
const expression = { name: 1, data: 2 };
const datum = { value: 1, verdict: 2 };
const verdictPart = { code: 1, chain: 2 };
const codes = { accept: 1, jump: -3, goto: -4 } as const;
const metaKeys = { protocol: 16, timeNs: 30 } as const;
const ctKeys = { protocol: 10, destinationPort: 12, destination: 20 } as const;
const comparisons = { equal: 0, unequal: 1, less: 2 } as const;
const ORIGINAL = Buffer.of(0);
const HOST_TO_NETWORK = 1;

export type Expression = Buffer;
export type Verdict = { code: 'accept' } | { code: 'jump' | 'goto'; chain: string };

/** Loads a property of the packet. */
export function meta(key: keyof typeof metaKeys): Expression {
  return made('meta', number(2, metaKeys[key]), number(1, FIRST));
}

/** Loads a property of the connection's first packet. */
export function connection(key: keyof typeof ctKeys, place: 'first' | 'second' = 'first'): Expression {
  const register = place === 'first' ? FIRST : SECOND;
  return made('ct', number(2, ctKeys[key]), number(1, register), attribute(3, ORIGINAL));
}

export function compare(how: keyof typeof comparisons, value: Uint8Array): Expression {
  return made('cmp', number(1, FIRST), number(2, comparisons[how]), nested(3, attribute(datum.value, value)));
}

/** Brings a number of eight bytes into the order of networks, in which numbers are compared. */
export function toNetworkOrder(): Expression {
  const registers = [number(1, FIRST), number(2, FIRST)];
  return made('byteorder', ...registers, number(3, HOST_TO_NETWORK), number(4, 8), number(5, 8));
}

/** Continues when the set holds the key. */
export function lookup(set: string): Expression {
  return made('lookup', number(2, FIRST), text(1, set));
}

export function decide(verdict: Verdict): Expression {
  return made('immediate', number(1, VERDICT), nested(2, verdictDatum(verdict)));
}

/** A verdict as a value, also of an element. */
export function verdictDatum(verdict: Verdict): Buffer {
  const chain = verdict.code === 'accept' ? [] : [text(verdictPart.chain, verdict.chain)];
  return nested(datum.verdict, number(verdictPart.code, codes[verdict.code]), ...chain);
}

function made(name: string, ...attributes: Buffer[]): Expression {
  return nested(list.element, text(expression.name, name), nested(expression.data, ...attributes));
}
