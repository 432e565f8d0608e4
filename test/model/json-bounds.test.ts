/** JSON is counted before it is parsed: values, and arrays and objects within one another. */
import { describe, expect, it } from 'vitest';
import { JsonScan, judgeJson } from '../../src/model/json-bounds.ts';
import { limits } from '../../src/model/limits.ts';
import { processorMsOf } from '../support/processor-time.ts';

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
    ['values and names together', '{"a":1,"b":2}', { nodes: 9, depth: 1, nodesAndKeys: 5 }],
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
    ['{"a":1,"b":2}', { nodes: 9, depth: 1, nodesAndKeys: 4 }, 'too_many_nodes'],
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

describe('a request body', () => {
  const body = limits.json.body;

  it('has at most 10,000 keys and values', () => {
    const list = (values: number) => bytes(`[${Array(values).fill('1').join()}]`);
    const keys = (count: number) =>
      bytes(`{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`);
    expect(judgeJson(list(9_998), body)).toBe('fits');
    expect(judgeJson(list(10_001), body)).toBe('too_many_nodes');
    expect(judgeJson(keys(4_999), body)).toBe('fits');
    expect(judgeJson(keys(5_001), body)).toBe('too_many_nodes');
    expect(judgeJson(bytes(`[${'{},'.repeat(5_001)}0]`), body)).toBe('too_many_nodes');
  });

  it('has at most 64 levels', () => {
    const nested = (depth: number) => bytes('['.repeat(depth) + ']'.repeat(depth));
    expect(judgeJson(nested(64), body)).toBe('fits');
    expect(judgeJson(nested(65), body)).toBe('too_deep');
    expect(judgeJson(bytes('{"a":'.repeat(65)), body)).toBe('too_deep');
    expect(judgeJson(bytes('[],'.repeat(4_000)), body)).toBe('fits');
  });

  it('is counted in less than 100 ms for any 64 KiB of it', () => {
    for (const unit of ['x', '\\"', '[', '"']) {
      const chunk = Buffer.alloc(65_536, unit);
      expect(
        processorMsOf(() => new JsonScan(body).push(chunk)),
        unit,
      ).toBeLessThan(100);
    }
  });
});

it('a text is one value, whatever is in it and wherever it is cut', () => {
  const text = `"${String.raw`[{,:\"\\`.repeat(5_000)}"`;
  const inChunks = (whole: Buffer, size: number) => {
    const scan = new JsonScan({ nodes: 3, depth: 1 });
    let verdict = scan.push(Buffer.alloc(0));
    for (let at = 0; at < whole.length && verdict === 'fits'; at += size) {
      verdict = scan.push(whole.subarray(at, at + size));
    }
    return verdict;
  };
  for (const size of [1, 2, 3, 7, 65_536]) {
    expect(inChunks(bytes(`[${text},${text}]`), size)).toBe('fits');
    expect(inChunks(bytes('["\\\\",1,2]'), size)).toBe('too_many_nodes');
  }
});

it('an outline shows the outermost structure, wherever the text is cut', () => {
  const text = bytes('[{"a":{"b":[1,{"c":"d,"}]},"e":"f"}]');
  for (const size of [1, 2, 5, 100]) {
    const seen: string[] = [];
    const scan = new JsonScan(roomy, {
      depth: 2,
      begin: () => seen.push(''),
      piece: (part) => seen.push(seen.pop() + Buffer.from(part).toString()),
      mark: (byte, depth, at) => seen.push(`${String.fromCharCode(byte)} ${depth} at ${at}`),
    });
    for (let at = 0; at < text.length; at += size) scan.push(text.subarray(at, at + size));
    expect(seen).toEqual([
      ...['[ 1 at 0', '{ 2 at 1', 'a', ': 2 at 5', '} 2 at 25', ', 2 at 26'],
      ...['e', ': 2 at 30', 'f', '} 1 at 34', '] 0 at 35'],
    ]);
    expect([scan.bytes, scan.count]).toEqual([36, 12]);
  }
});

it('text that is no JSON does no harm', () => {
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
