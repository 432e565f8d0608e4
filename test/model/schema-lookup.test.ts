import { describe, expect, it } from 'vitest';
import { type FieldSchema, type FieldType, fieldAt, paths } from '../../src/model/document-schema.ts';

const schema = {
  fields: [
    field('_id', ['objectId']),
    field('address', ['object'], [field('address.city', ['string'])]),
    field('items', ['array'], [field('items.sku', ['string']), field('items.7', ['int'])]),
    field('grid', [{ ...type('array'), elements: [{ ...type('array'), elements: [type('double')] }] }]),
    field(
      'counts',
      ['object'],
      [
        field('counts.total', ['int']),
        { ...field('counts.<key>', ['object'], [field('counts.<key>.seen', ['date'])]), keys: 240 },
      ],
    ),
    field('a.b', ['object'], [field('a.b.c', ['bool'])]),
    field('a', ['object'], [field('a.b', ['long']), field('a.b.d', ['string'])]),
  ],
};

describe('a path finds', () => {
  it.each([
    ['_id', '_id'],
    ['address.city', 'address.city'],
    ['items.sku', 'items.sku'],
    ['items.0.sku', 'items.sku'],
    ['items.0', 'items'],
    ['items.7', 'items.7'],
    ['grid.0.1', 'grid'],
    ['counts.total', 'counts.total'],
    ['counts.abc', 'counts.<key>'],
    ['counts.<key>', 'counts.<key>'],
    ['counts.abc.seen', 'counts.<key>.seen'],
    ['a.b.c', 'a.b.c'],
    ['a.b.d', 'a.b.d'],
  ])('with %s the field %s', (path, found) => {
    expect(fieldAt(schema, path)?.path).toBe(found);
  });

  it.each([
    '',
    'addres',
    'address.',
    'address.0',
    'address.city.x',
    'items.x',
    'items.0x.sku',
    'counts.total.x',
    '.',
  ])('with "%s" nothing', (path) => {
    expect(fieldAt(schema, path)).toBeNull();
  });

  it('every field by its own path', () => {
    const all = paths(schema);
    expect(all).toHaveLength(16);
    for (const path of all) expect(fieldAt(schema, path)?.path).toBe(path);
  });
});

it('paths have parents before children', () => {
  expect(paths(schema).slice(0, 5)).toEqual(['_id', 'address', 'address.city', 'items', 'items.sku']);
});

function field(path: string, types: (string | FieldType)[], fields?: FieldSchema[]): FieldSchema {
  return {
    path,
    types: types.map((name) => (typeof name === 'string' ? type(name) : name)),
    probability: 1,
    examples: [],
    ...(fields ? { fields } : {}),
  };
}

function type(name: string): FieldType {
  return { type: name, count: 10, probability: 1 };
}
