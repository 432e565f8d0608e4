/** Compares the catalogue with the table in both directions: nothing is missing, more or different. */
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { describeTool } from '../../src/catalog/describe.ts';
import { tools } from '../../src/catalog/index.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';
import type { Parameter, Rules } from './notation.ts';
import { additions, contract } from './table.ts';

describe('the catalogue', () => {
  it('[SBX-TOOLS-01] [WIRE-CATALOG-01] lists the 46 tools of sandboxes once each, in the order of the contract', () => {
    const names = contract.map(({ name }) => name).filter((name) => name.startsWith('Sandbox.'));
    expect(names).toHaveLength(46);
    expect(tools.map(({ name }) => name).filter((name) => name.startsWith('Sandbox.'))).toEqual(names);
  });

  it('[DDB-TOOLS-01] lists the 6 tools of the document database after them', () => {
    const names = contract.map(({ name }) => name);
    expect(names.slice(46)).toHaveLength(6);
    expect(tools.map(({ name }) => name)).toEqual(names);
  });

  it('has a tool for every addition', () => {
    const names = contract.map(({ name }) => name);
    expect(additions.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('the parameters of', () => {
  const rows = contract.map(({ name, parameters }) => [name, parameters] as const);

  it.each(rows)(
    '[SBX-TOOLS-05] [DDB-DISCOVER-01, DDB-DISCOVER-02, DDB-SCHEMA-01, DDB-FIND-01, DDB-COUNT-01, DDB-AGG-01] %s are required as the contract requires them',
    (name, parameters) => {
      const required = Object.keys(parameters).filter((parameter) => parameters[parameter]?.required);
      expect(schemaOf(name).required ?? []).toEqual(required);
    },
  );

  it.each(rows)(
    '[SBX-CREATE-05] [SBX-CREATE-06] [SBX-CREATE-19] [SBX-LIST-03] [SBX-LIST-06] [SBX-SNAP-09] [SBX-SSH-02] [SBX-PREVIEW-02] [SBX-PREVIEW-05] [SBX-FILES-21] [SBX-FILES-24] [SBX-GIT-18, SBX-GIT-20, SBX-GIT-23] [DDB-SCHEMA-03, DDB-FIND-05, DDB-FIND-06, DDB-AGG-03] %s have its types, bounds, defaults and values, and there are no others',
    (name, parameters) => {
      const expected = Object.entries(parameters).map(([key, parameter]) => [key, schemaFor(parameter)]);
      const listed = Object.entries(schemaOf(name).properties ?? {});
      const actual = listed.map(([key, schema]) => [key, undescribed(schema)]);
      expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected));
    },
  );
});

function schemaOf(name: string): JsonSchema {
  return describeTool(findTool(name)).input_schema;
}

function undescribed({ description: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Rules without a keyword of JSON Schema (bytes, `takes`, `refuses`) are only tried, in bounds.test.ts. */
function schemaFor(parameter: Parameter): JsonSchema {
  const { type, values, kinds = [], keys, items, default: fallback } = parameter;
  const common = { ...(fallback === undefined ? {} : { default: fallback }) };
  switch (type) {
    case 'boolean':
      return { type, ...common };
    case 'integer':
      return { type, ...common, ...keywords(parameter) };
    case 'string':
      return { type, ...common, ...(values ? { enum: [...values] } : {}), ...keywords(parameter) };
    case 'strings':
      return {
        ...{ type: 'array', ...common, ...keywords(parameter) },
        items: { type: 'string', ...keywords(items ?? {}) },
      };
    case 'either':
      return { ...common, anyOf: kinds.map(schemaFor) };
    case 'json':
      return { type: 'object', ...common, ...(keys ? { properties: schemasFor(keys) } : {}) };
  }
}

function schemasFor(keys: Record<string, Parameter>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(keys).map(([key, parameter]) => [key, schemaFor(parameter)]));
}

function keywords({ min, max, minChars, maxChars, minItems, maxItems, pattern }: Rules): JsonSchema {
  const all = {
    ...{ minimum: min, maximum: max, minLength: minChars, maxLength: maxChars },
    ...{ minItems, maxItems, pattern },
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
