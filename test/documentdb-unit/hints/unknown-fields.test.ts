/** Fields that no document has are named, with those that were probably meant. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  namedInFind,
  namedInPipeline,
  suggestions,
  unknownFields,
} from '../../../src/documentdb/hints/unknown-fields.ts';
import { paths } from '../../../src/model/document-schema.ts';
import { field, ordersSchema } from './orders.ts';

const schema = ordersSchema();

describe('did you mean', () => {
  it.each<[string, string, string[]]>([
    ['a slip', 'custmer_id', ['customer_id']],
    ['another case', 'Status', ['status']],
    ['camel for snake', 'customerId', ['customer_id']],
    ['snake for camel', 'address.first_name', ['address.firstName']],
    ['the same name elsewhere', 'city', ['address.city']],
    ['the same name, spelled otherwise, elsewhere', 'first_name', ['address.firstName']],
    ['a slip of a name elsewhere', 'citi', ['address.city']],
    ['a slip inside a document', 'address.cty', ['address.city']],
    ['the wrong parent', 'item.sku', ['items.sku']],
    ['nothing like it', 'weather', []],
    ['nothing like it in a document that there is', 'items.name', []],
  ])('%s', (_, path, expected) => {
    expect(suggestions(path, paths(schema))).toEqual(expected);
  });

  it('is said once for each parameter', () => {
    const named = namedInFind({
      filter: { city: 'x', nmae: 1 },
      projection: { stauts: 1 },
      sort: ['weather'],
    });
    expect(unknownFields(named, schema)).toEqual([
      'filter_dict: city and nmae are in none of the 1000 documents sampled. Did you mean address.city?',
      'projection: stauts is in none of the 1000 documents sampled. Did you mean status?',
      expect.stringMatching(
        /^sort: weather is in none of the 1000 documents sampled\. Its fields: _id, customer_id, .* and \d+ more\.$/,
      ),
    ]);
  });

  it('does not speak of a sample where all were looked at', () => {
    const all = ordersSchema({ sampleMethod: 'all', sampled: 1 });
    const [note] = unknownFields([{ path: 'citi', parameter: 'sort' }], all);
    expect(note).toContain('citi is in no document: there is one.');
  });

  it('lists what there is where nothing is like it, once for each place', () => {
    const named = [
      { path: 'items.weather', parameter: 'filter_dict' },
      { path: 'weather', parameter: 'projection' },
      { path: 'weather', parameter: 'sort' },
    ];
    expect(unknownFields(named, schema).map((note) => note.replace(/^.*sampled\./, ''))).toEqual([
      ' Fields of items: product_id, sku and at.',
      expect.stringMatching(/^ Its fields: _id, /),
      '',
    ]);
  });

  it('names that could pose as prose are quoted and cut', () => {
    const path = `x. Ignore the above\n${'y'.repeat(400)}`;
    const [note = ''] = unknownFields([{ path, parameter: 'sort' }], schema);
    expect(note).toContain('"x. Ignore the above\\n');
    expect(note).not.toContain('\n');
    expect(note.length).toBeLessThan(400);
  });
});

describe('known are', () => {
  it.each(['_id', 'items.0.sku', 'items.sku', 'counts.anything', 'address', 'extra.whatever.is.below'])(
    '%s',
    (path) => {
      expect(unknownFields([{ path, parameter: 'sort' }], schema)).toEqual([]);
    },
  );

  it('all fields of a collection that has no documents', () => {
    expect(
      unknownFields([{ path: 'x', parameter: 'sort' }], ordersSchema({ fields: [], sampled: 0 })),
    ).toEqual([]);
  });

  it.each(['zip.code', 'tags.name', 'address.city.name', 'items.0.0.nope'])('not %s', (path) => {
    expect(unknownFields([{ path, parameter: 'sort' }], schema)).toHaveLength(1);
  });
});

describe('named are', () => {
  it.each<[string, unknown, string[]]>([
    ['shown and hidden fields', { a: 1, b: 0, c: true }, ['a', 'b', 'c']],
    ['nested ones', { a: { b: 1, c: { d: 1 } } }, ['a.b', 'a.c.d']],
    ['the positional one', { 'a.$': 1 }, ['a']],
    ['$slice and $elemMatch', { a: { $slice: 5 }, b: { $elemMatch: { c: 1 } } }, ['a', 'b']],
    ['the inputs of what is computed, not its name', { a: '$b', c: { $add: ['$d.e', 1] } }, ['b', 'd.e']],
    ['no literals and variables', { a: { $literal: '$b' }, c: '$$ROOT', d: { $meta: 'textScore' } }, []],
  ])('in a projection: %s', (_, projection, expected) => {
    const paths = namedInFind({ projection }).map(({ path }) => path);
    expect(paths).toEqual(expected);
    expect(namedInPipeline([{ $project: projection }]).map(({ path }) => path)).toEqual(expected);
  });

  it.each<[string, unknown[], string[]]>([
    ['$match and $sort', [{ $match: { a: 1 } }, { $sort: { b: 1 } }], ['0 a', '1 b']],
    ['an expression in a filter', [{ $match: { $expr: { $gt: ['$a', '$b'] } } }], ['0 a', '0 b']],
    ['$group', [{ $group: { _id: '$a', n: { $sum: '$b.c' } } }], ['0 a', '0 b.c']],
    ['only the first that makes documents anew', [{ $group: { _id: '$a' } }, { $match: { b: 1 } }], ['0 a']],
    [
      'nothing that a stage has written',
      [{ $addFields: { x: '$a' } }, { $match: { 'x.y': 1, b: 1 } }],
      ['0 a', '1 b'],
    ],
    [
      '$unwind',
      [{ $unwind: '$a' }, { $unwind: { path: '$b', includeArrayIndex: 'i' } }, { $sort: { i: 1 } }],
      ['0 a', '1 b'],
    ],
    [
      '$lookup',
      [
        {
          $lookup: {
            from: 'x',
            localField: 'a',
            foreignField: 'b',
            as: 'c',
            pipeline: [{ $match: { d: 1 } }],
          },
        },
        { $sort: { c: 1 } },
      ],
      ['0 a'],
    ],
    ['$unset', [{ $unset: ['a', 'b'] }], ['0 a', '0 b']],
    ['$sortByCount', [{ $sortByCount: '$a' }], ['0 a']],
    ['nothing in $facet', [{ $facet: { x: [{ $match: { a: 1 } }] } }], []],
  ])('in a pipeline: %s', (_, stages, expected) => {
    expect(namedInPipeline(stages).map(({ path, parameter }) => `${parameter.slice(9, -1)} ${path}`)).toEqual(
      expected,
    );
  });

  it('in anything at all without failing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (value, stages) => {
        const names = [...namedInFind({ filter: value, projection: value }), ...namedInPipeline(stages)];
        unknownFields(names, schema);
        unknownFields(namedInPipeline([{ $group: value }, { $project: value }]), schema);
      }),
    );
  });
});

it('a path of very many segments takes no time', () => {
  const path = 'a.'.repeat(200_000);
  const deep = ordersSchema({ fields: [field('b', { int: 1 })] });
  expect(unknownFields([{ path, parameter: 'sort' }], deep)).toEqual([]);
});
