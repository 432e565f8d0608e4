/** Every entry of the guard's tables: what it does not look into is named here, and all else is looked into. */
import { describe, expect, it } from 'vitest';
import {
  type Argument,
  accumulators,
  expressionOperators,
  type Operators,
  windowFunctions,
} from '../../../src/documentdb/guard/expression-operators.ts';
import { checkFilter, checkPipeline } from '../../../src/documentdb/guard/guard.ts';
import {
  documentOperators,
  elementOperators,
  fieldOperators,
  schemaKeywords,
} from '../../../src/documentdb/guard/query-operators.ts';
import { type Stage, type StageSlot, stages } from '../../../src/documentdb/guard/stages.ts';

const script = { $function: { body: 'x', args: [], lang: 'js' } };
const refused = expect.objectContaining({ code: 'invalid_argument' });
const pipelineOf = (stage: unknown) => () =>
  checkPipeline([stage], 'pipeline', { database: 'shop', collection: 'orders' });

const places: [string, Operators, (operator: unknown) => unknown][] = [
  ['expressions', expressionOperators, (operator) => ({ $addFields: { a: operator } })],
  ['$group', accumulators, (operator) => ({ $group: { _id: null, a: operator } })],
  ['$setWindowFields', windowFunctions, (operator) => ({ $setWindowFields: { output: { a: operator } } })],
];

describe.each(places)('an operator of %s', (_, operators, inStage) => {
  const looked = [...operators].filter(([, argument]) => argument !== 'literal');

  it.each(looked)('is looked into: %s', (name, argument) => {
    const all = argumentsWith(script, argument);
    expect(all.length).toBeGreaterThan(0);
    for (const hostile of all) {
      expect(pipelineOf(inStage({ [name]: hostile })), JSON.stringify(hostile)).toThrow(refused);
    }
  });

  it('has a name that is no other kind’s danger', () => {
    const names = [...operators.keys()];
    expect(
      names.filter((name) => /function|accumulator$|where|out$|merge$|internal|^\$_/i.test(name)),
    ).toEqual([]);
  });
});

/** With something hostile in each place that the argument has. */
function argumentsWith(hostile: unknown, argument: Argument): unknown[] {
  if (argument === 'literal') return [];
  if (argument === 'expression') return [hostile, [1, hostile], { a: hostile }];
  if (argument === 'meta') return [hostile];
  if (argument === 'let')
    return [
      { vars: { a: hostile }, in: 1 },
      { vars: {}, in: hostile },
    ];
  return [...argument.slots.keys(), 'other'].map((slot) => ({ [slot]: hostile }));
}

describe('unchecked operands', () => {
  it('are those of $literal in expressions', () => {
    const literal = [...expressionOperators, ...accumulators, ...windowFunctions].filter(
      ([, a]) => a === 'literal',
    );
    expect(literal.map(([name]) => name)).toEqual(['$literal']);
  });

  it('are the values that the server compares with in filters', () => {
    const literal = [...documentOperators, ...elementOperators, ...fieldOperators].filter(
      ([, operand]) => operand === 'literal',
    );
    expect(new Set(literal.map(([name]) => name))).toEqual(
      new Set([
        ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$exists', '$type', '$size', '$mod', '$options'],
        ...['$bitsAllClear', '$bitsAllSet', '$bitsAnyClear', '$bitsAnySet'],
        ...['$comment', '$sampleRate', '$alwaysTrue', '$alwaysFalse'],
      ]),
    );
  });

  it('are flags and weights in stages', () => {
    expect([...stages].flatMap(([name, { takes }]) => literalsOf(takes, name))).toEqual([
      '$densify.range.bounds',
      '$geoNear.spherical',
      '$rankFusion.combination.weights',
      '$rankFusion.scoreDetails',
      '$unwind.preserveNullAndEmptyArrays',
    ]);
  });

  function literalsOf(slot: StageSlot, path: string): string[] {
    if (slot === 'literal') return [path];
    if (typeof slot === 'string') return [];
    return Object.entries(slot).flatMap(([name, inner]) => literalsOf(inner, `${path}.${name}`));
  }
});

describe('a stage', () => {
  it.each([...stages])('is looked into, each of its options: %s', (name, { takes }: Stage) => {
    const all = slotsWith(takes);
    expect(all.length).toBeGreaterThan(0);
    for (const hostile of all) {
      expect(pipelineOf({ [name]: hostile }), JSON.stringify(hostile)).toThrow(refused);
    }
  });

  it('takes no option that is not in the table', () => {
    for (const [name, { takes }] of stages) {
      if (typeof takes !== 'object') continue;
      const also = { ...('coll' in takes ? { coll: 'x' } : {}), ...('from' in takes ? { from: 'x' } : {}) };
      expect(pipelineOf({ [name]: { ...also, other: 1 } }), name).toThrow(refused);
    }
  });

  /** Of every kind of hostile value, in every option. */
  function slotsWith(slot: StageSlot): unknown[] {
    if (slot === 'literal') return [];
    if (typeof slot === 'object') {
      return Object.entries(slot).flatMap(([name, inner]) =>
        slotsWith(inner).map((value) => ({ [name]: value })),
      );
    }
    const hostile = [script, { a: script }, { $where: 'x' }, [{ $out: 'x' }]];
    // A list in a filter is a value to compare with.
    return slot === 'filter' ? hostile : [...hostile, { a: [{ $out: 'x' }] }];
  }
});

describe('an operator of a filter', () => {
  it.each([...fieldOperators].filter(([, operand]) => operand !== 'literal'))(
    'is looked into: %s',
    (name) => {
      const all = [{ $where: 'x' }, [{ $where: 'x' }]];
      const isRefused = all.map((hostile) => {
        try {
          checkFilter({ a: { [name]: hostile } }, 'f');
          return false;
        } catch {
          return true;
        }
      });
      expect(isRefused).toContain(true);
    },
  );

  it.each([...documentOperators].filter(([, operand]) => operand !== 'literal'))(
    'is looked into: %s',
    (name) => {
      expect(() => checkFilter({ [name]: { $where: 'x' } }, 'f')).toThrow(refused);
      expect(() => checkFilter({ [name]: [{ $where: 'x' }] }, 'f')).toThrow(refused);
    },
  );

  it.each([...schemaKeywords].filter(([, slot]) => slot !== 'literal'))(
    'is looked into: $jsonSchema.%s',
    (name) => {
      const all = [{ $where: 'x' }, [{ $where: 'x' }], { a: { $where: 'x' } }];
      for (const hostile of all.filter((value) => name !== 'dependencies' || !Array.isArray(value))) {
        expect(() => checkFilter({ $jsonSchema: { [name]: hostile } }, 'f')).toThrow(refused);
      }
    },
  );
});
