/** What holds for every tool of the catalogue, whichever it is. Each one's parameters: `test/contract`. */
import { describe, expect, it } from 'vitest';
import { descriptions } from '../../src/catalog/describe.ts';
import { toolsByToolset } from '../../src/catalog/index.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';

/** What a model reads of each tool; output schemas are for programs. */
const MODEL_BYTES_A_TOOL = 870;
const BYTES_A_TOOL = 1_720;

describe('the catalogue', () => {
  it('[DDB-TOOLS-04] gives the order of use, and the advice to project, to sort and to filter by what has an index', () => {
    const said = Object.fromEntries(descriptions.map(({ name, description }) => [name, description]));
    const steps = ['DiscoverDatabases', 'DiscoverCollections', 'GetCollectionSchema'];
    const [databases, collections, schema] = steps.map((name) => said[`DocumentDb.${name}`]);
    expect(databases).toMatch(/Next: DiscoverCollections/);
    expect(collections).toMatch(/Required before any tool that takes a collection_name/);
    expect(collections).toMatch(/Next: GetCollectionSchema for each collection/);
    expect(schema).toMatch(/Required before querying, for every collection of the query/);
    for (const name of ['FindDocuments', 'CountDocuments', 'AggregateDocuments']) {
      expect(said[`DocumentDb.${name}`]).toMatch(/Load the schema/);
    }
    expect(said['DocumentDb.FindDocuments']).toMatch(
      /indexed fields.* projection .* sort \(by _id if unsure\)/,
    );
    expect(said['DocumentDb.AggregateDocuments']).toMatch(/\$match on indexed fields/);
  });

  it('is small enough to be read by a model at every turn', () => {
    const usual = descriptions.filter(({ toolset }) => toolset in toolsByToolset);
    const modelBytes = usual.map(({ name, description, input_schema }) =>
      Buffer.byteLength(JSON.stringify({ name, description, input_schema })),
    );
    const bytes = Buffer.byteLength(JSON.stringify(usual));
    expect(sum(modelBytes) / usual.length).toBeLessThan(MODEL_BYTES_A_TOOL);
    expect(bytes / usual.length).toBeLessThan(BYTES_A_TOOL);
  });
});

describe.each(descriptions.map((tool) => [tool.name, tool] as const))('%s', (_name, tool) => {
  it('has a title, a description that ends as a sentence does, and all four hints', () => {
    expect(tool.title).toMatch(/^[A-Z][A-Za-z ,]+$/);
    expect(tool.description).toMatch(/^[A-Z][^\n]{20,}[.]$/);
    expect(tool.description.length).toBeLessThan(600);
    expect(Object.keys(tool.annotations).sort()).toEqual([
      'destructiveHint',
      'idempotentHint',
      'openWorldHint',
      'readOnlyHint',
    ]);
    if (tool.annotations.readOnlyHint) expect(tool.annotations.destructiveHint).toBe(false);
  });

  it('keeps its schemas in the dialect that all vendors accept', () => {
    for (const schema of [tool.input_schema, tool.output_schema]) {
      expect(schema.type).toBe('object');
      for (const keyword of ['oneOf', 'anyOf', 'allOf', 'not', 'if'])
        expect(schema).not.toHaveProperty(keyword);
      for (const node of nodes(schema)) {
        const forbidden = ['$ref', '$defs', 'exclusiveMinimum', 'exclusiveMaximum', 'additionalProperties'];
        for (const keyword of [...forbidden, 'propertyNames', 'sensitive', '$schema']) {
          expect(node).not.toHaveProperty(keyword);
        }
        expect(node.type === undefined || typeof node.type === 'string').toBe(true);
        if (typeof node['pattern'] === 'string') expect(node['pattern']).not.toContain('(?');
      }
    }
  });

  it('describes every parameter with its default and its bounds', () => {
    for (const [parameter, schema] of Object.entries(tool.input_schema.properties ?? {})) {
      const { description = '', default: fallback, minimum, maximum } = schema;
      expect(description, parameter).toMatch(/^(vCPUs|[A-Z]).+\.$/);
      if (schema.type === 'integer') {
        expect(minimum, parameter).toBeTypeOf('number');
        expect(maximum, parameter).toBeTypeOf('number');
        expect(description, parameter).toContain(String(minimum));
        // A maximum that only keeps sums exact is none to tell a model of.
        if (Number(maximum) < 1_000_000) expect(description, parameter).toContain(String(maximum));
      }
      if (fallback !== undefined) expect(description, parameter).toContain('default');
      if (typeof fallback === 'number') expect(description, parameter).toContain(`default ${fallback}`);
      if (schema.enum && fallback === undefined) expect(description.length, parameter).toBeGreaterThan(0);
    }
  });

  it('types every field of its output', () => {
    const fields = Object.entries(tool.output_schema.properties ?? {});
    expect(fields.length).toBeGreaterThan(0);
    for (const [field, schema] of fields) expect(schema.type ?? schema.anyOf, field).toBeDefined();
  });

  it('[WIRE-HTTP-06] has snake_case keys', () => {
    for (const schema of [tool.input_schema, tool.output_schema]) {
      const keys = nodes(schema).flatMap(({ properties }) => Object.keys(properties ?? {}));
      for (const key of keys) expect(key).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
  });

  it('[SBX-TOOLS-02] takes named parameters', () => {
    expect(tool.input_schema.type).toBe('object');
    const required = tool.input_schema.required ?? [];
    for (const name of required) expect(tool.input_schema.properties).toHaveProperty(name);
  });
});

/** The schema and all schemas in it. */
function nodes(schema: JsonSchema): JsonSchema[] {
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])];
  if (schema.items) inner.push(schema.items);
  return [schema, ...inner.flatMap(nodes)];
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
