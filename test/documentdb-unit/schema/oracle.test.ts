import { EJSON } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SchemaInference } from '../../../src/documentdb/schema/inference.ts';
import { type FieldSchema, fieldAt, paths } from '../../../src/model/document-schema.ts';
import { bytesOf, documents, type Fields } from './arbitrary.ts';
import { byCount, byCountThenName, type ExpectedField, expectedFields, flat } from './oracle.ts';

describe('the schema of any documents', () => {
  it('[DDB-SCHEMA-02] is what the slow and obvious way finds: types, presence, lengths, bounds and enums', () => {
    fc.assert(
      fc.property(documents, (documents) => {
        const inference = inferred(documents);
        expect(inference.sampled).toBe(documents.length);
        expect(comparable(inference.fields())).toEqual(comparable(expectedFields(documents)));
        expect(inference.notes()).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same however the bytes lie in memory', () => {
    fc.assert(
      fc.property(documents, (documents) => {
        const inference = new SchemaInference();
        for (const document of documents.map(bytesOf)) {
          const batch = Buffer.concat([Buffer.alloc(3), document, Buffer.alloc(2)]);
          inference.add(batch.subarray(3, 3 + document.length));
        }
        expect(inference.fields()).toEqual(inferred(documents).fields());
      }),
    );
  });

  it('has examples that are in the documents, each once, few and short', () => {
    fc.assert(
      fc.property(documents, (documents) => {
        const schema = { fields: inferred(documents).fields() };
        for (const path of paths(schema)) {
          const examples = fieldAt(schema, path)?.examples ?? [];
          const texts = examples.map((example) => JSON.stringify(example));
          expect(new Set(texts).size).toBe(examples.length);
          expect(examples.length).toBeLessThanOrEqual(3);
          for (const example of examples)
            if (typeof example === 'string') expect([...example].length).toBeLessThanOrEqual(60);
        }
      }),
    );
  });

  it('has patterns only of strings beside other values, each the shape of one of them', () => {
    let seen = 0;
    fc.assert(
      fc.property(documents, (documents) => {
        for (const { path, patterns = [] } of inferred(documents).fields()) {
          if (patterns.length === 0) continue;
          seen++;
          const values = documents.flatMap((document) => flat(document.get(path)));
          const texts = values.filter((value) => typeof value === 'string');
          const others = values.filter((value) => value !== null && value !== undefined);
          expect(others.length).toBeGreaterThan(texts.length);
          const shapes = texts.map((text) => text.replace(/\p{Nd}+/gu, '9'));
          const all = [...shapes, ...shapes.map((shape) => shape.replace(/\p{L}+/gu, 'a'))];
          expect(patterns.length).toBeLessThanOrEqual(3);
          for (const pattern of patterns) expect(all).toContain(pattern);
        }
      }),
      { numRuns: 500 },
    );
    expect(seen).toBeGreaterThan(20);
  });

  it('gives the examples as Extended JSON, which reads back as the values', () => {
    let seen = 0;
    fc.assert(
      fc.property(documents, (documents) => {
        for (const field of inferred(documents).fields()) {
          const values = documents.flatMap((document) => flat(document.get(field.path)));
          for (const example of field.examples) {
            if (JSON.stringify(example).includes('…')) continue;
            seen++;
            expect(values.some((value) => isSame(value, example))).toBe(true);
          }
        }
      }),
    );
    expect(seen).toBeGreaterThan(100);
  });
});

function inferred(documents: readonly Fields[]): SchemaInference {
  const inference = new SchemaInference();
  for (const document of documents) inference.add(bytesOf(document));
  return inference;
}

/** Both as JSON, without examples and patterns, and what is equally frequent in one order. */
function comparable(fields: readonly (FieldSchema | ExpectedField)[]): unknown {
  const ordered = fields.map((field) => ({
    ...field,
    examples: undefined,
    patterns: undefined,
    types: sortedTypes(field.types),
    ...(field.enum ? { enum: field.enum.toSorted(byCount) } : {}),
    ...(field.fields ? { fields: comparable(field.fields) } : {}),
  }));
  return JSON.parse(JSON.stringify(ordered));
}

function sortedTypes(types: FieldSchema['types']): FieldSchema['types'] {
  return types
    .map((type) => ({ ...type, ...(type.elements ? { elements: sortedTypes(type.elements) } : {}) }))
    .toSorted(byCountThenName);
}

/** Whether the example, read as Extended JSON, is the value. */
function isSame(value: unknown, example: unknown): boolean {
  const wrapped = JSON.stringify({ v: example });
  const read = EJSON.stringify(EJSON.parse(wrapped, { relaxed: false }), { relaxed: true });
  const own = EJSON.stringify({ v: value }, { relaxed: true });
  return read === own;
}
