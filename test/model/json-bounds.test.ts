/** JSON is counted before it is parsed: values, and arrays and objects within one another. */
import { describe, expect, it } from 'vitest';
import { JsonScan, judgeJson } from '../../src/model/json-bounds.ts';

const bytes = (text: string) => Buffer.from(text);
const roomy = { nodes: 1_000, depth: 100 };

describe('a text within its bounds fits', () => {
  it.each([
    ['a number', '7', { nodes: 1, depth: 0 }],
    ['a string of brackets', '"[[[[{{{{,,,,"', { nodes: 1, depth: 0 }],
    ['escaped quotes', String.raw`"\"[[\\\"[["`, { nodes: 1, depth: 0 }],
    ['three values in an array', '[1,2,3]', { nodes: 4, depth: 1 }],
    ['an object of two', '{"a":1,"b":[2]}', { nodes: 4, depth: 2 }],
    ['two names', '{"a:a":1,"b":[":"]}', { nodes: 4, depth: 2, keys: 2 }],
    ['arrays one after another', '[[1],[2]]', { nodes: 5, depth: 2 }],
  ])('%s', (_name, text, bounds) => {
    expect(judgeJson(bytes(text), bounds)).toBe('fits');
  });
});

describe('a text that passes a bound by one does not', () => {
  it.each([
    ['[1,2,3]', { nodes: 3, depth: 1 }, 'too_many_nodes'],
    ['[[],[]]', { nodes: 4, depth: 2 }, 'too_many_nodes'],
    ['{"a":1,"b":[2]}', { nodes: 3, depth: 2 }, 'too_many_nodes'],
    ['{"a":1,"b":[2]}', { nodes: 4, depth: 1 }, 'too_deep'],
    ['{"a:a":1,"b":[2]}', { nodes: 4, depth: 2, keys: 1 }, 'too_many_nodes'],
    [String.raw`["\\",[1]]`, { nodes: 9, depth: 1 }, 'too_deep'],
  ] as const)('%s', (text, bounds, verdict) => {
    expect(judgeJson(bytes(text), bounds)).toBe(verdict);
  });
});

it('no text has more values than were counted, and where it is cut makes no difference', () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = generator(seed);
  for (let round = 0; round < 300; round++) {
    const value = anything(random, 4);
    const text = bytes(JSON.stringify(value));
    const { nodes, depth } = measured(value);
    const where = `seed ${seed}, round ${round}: ${text}`;
    if (nodes > 1) expect(judgeJson(text, { nodes: nodes - 1, depth: 100 }), where).toBe('too_many_nodes');
    expect(judgeJson(text, { nodes: 100_000, depth }), where).toBe('fits');
    if (depth > 0) expect(judgeJson(text, { nodes: 100_000, depth: depth - 1 }), where).toBe('too_deep');
    const scan = new JsonScan({ nodes: 100_000, depth });
    const verdicts = [...text].map((byte) => scan.push(Uint8Array.of(byte)));
    expect(new Set(verdicts), where).toEqual(new Set(['fits']));
  }
});

it('what is no JSON does no harm', () => {
  expect(judgeJson(bytes(']]]]}}}}"'), roomy)).toBe('fits');
  expect(judgeJson(Buffer.alloc(0), roomy)).toBe('fits');
  expect(judgeJson(bytes('['.repeat(1e6)), roomy)).toBe('too_deep');
});

function measured(value: unknown): { nodes: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { nodes: 1, depth: 0 };
  const inner = Object.values(value).map(measured);
  return {
    nodes: inner.reduce((sum, { nodes }) => sum + nodes, 1),
    depth: Math.max(0, ...inner.map(({ depth }) => depth)) + 1,
  };
}

function anything(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 0 ? 6 : 3));
  if (kind === 0) return Math.floor(random() * 1e6);
  if (kind === 1) return [...'"\\[]{},:é\n'].filter(() => random() < 0.5).join('');
  if (kind === 2) return null;
  const inner = Array.from({ length: Math.floor(random() * 5) }, () => anything(random, depth - 1));
  return kind < 5 ? inner : Object.fromEntries(inner.map((one, at) => [`"${at}\\`, one]));
}

/** Numbers in [0, 1) that a seed repeats. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}
