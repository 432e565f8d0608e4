/** Every bound that a schema states, tried on both sides: derived from the schemas, so that no tool is forgotten. */
import { describe, expect, it } from 'vitest';
import { describeTool } from '../../src/catalog/describe.ts';
import { tools } from '../../src/catalog/index.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';
import type { Tool } from '../../src/catalog/tool.ts';
import { validateInput } from '../../src/catalog/validate.ts';
import { SandhavenError } from '../../src/model/errors.ts';

/** Valid, and enough to reach the parameter under test. */
function validParameters(tool: Tool): Record<string, unknown> {
  const { properties = {}, required = [] } = describeTool(tool).input_schema;
  const parameters = Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
  // Half of a target is none.
  if ('save_to_path' in properties) Object.assign(parameters, { save_to_sandbox: 'x', save_to_path: 'x' });
  const changes = ['Sandbox.ConfigureSandboxAuto', 'Sandbox.ResizeSandbox'].includes(tool.name);
  return changes ? { ...parameters, [firstOptional(tool)]: 1 } : parameters;
}

function firstOptional(tool: Tool): string {
  const { properties = {}, required = [] } = describeTool(tool).input_schema;
  return Object.keys(properties).find((name) => !required.includes(name)) ?? '';
}

function sample({ type, enum: values, minimum }: JsonSchema): unknown {
  if (values) return values[0];
  return { string: 'x', integer: minimum, boolean: true, object: {}, array: ['x'] }[type ?? ''];
}

function good(schema: JsonSchema): unknown[] {
  // Another encoding needs other content.
  if (schema.enum?.includes('base64')) return ['utf-8'];
  if (schema.enum) return schema.enum;
  switch (schema.type) {
    case 'integer':
      return [schema.minimum, schema.maximum];
    case 'boolean':
      return [true, false];
    case 'object':
      // One with keys of its own takes no others.
      return schema.properties ? [{}] : [{}, { KEY: 'value' }];
    case 'string':
      return schema['pattern']
        ? [schema.default ?? sampleOf(String(schema['pattern']))]
        : ['x', 'x'.repeat(Number(schema['maxLength'] ?? 63))];
    default:
      return [];
  }
}

function sampleOf(pattern: string): string | undefined {
  return ['a-b_c.d 9', '0123abcd'].find((text) => new RegExp(pattern).test(text));
}

function bad(schema: JsonSchema): unknown[] {
  const wrongTypes = [[], 'text', 7, true, {}, 1.5].filter((value) => !isOfType(value, schema));
  const { minimum, maximum } = schema;
  const length = schema['maxLength'];
  return [
    ...wrongTypes,
    ...(schema.enum ? ['', 'PYTHON', `${schema.enum[0]} `] : []),
    ...(minimum === undefined ? [] : [minimum - 1, -(2 ** 53), -1e300]),
    ...(maximum === undefined ? [] : [maximum + 1, 2 ** 53, 1e300]),
    ...(schema.type === 'integer' ? ['1', `${minimum}`] : []),
    ...(schema.type === 'boolean' ? ['true', 0, 1] : []),
    ...(schema.type === 'object' ? [{ key: 1 }, { key: null }, { '': 'value' }, '{"a":"b"}'] : []),
    ...(schema['minLength'] === undefined ? [] : ['']),
    ...(typeof length === 'number' ? ['x'.repeat(length + 1)] : []),
  ];
}

/** What gives another parameter its meaning. */
function alsoGiven(parameter: string): Record<string, unknown> {
  return parameter === 'expires_in_seconds' ? { signed: true } : {};
}

function isOfType(value: unknown, { type }: JsonSchema): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function parametersOf(tool: Tool): [string, JsonSchema][] {
  return Object.entries(describeTool(tool).input_schema.properties ?? {});
}

function refusal(tool: Tool, parameters: unknown): SandhavenError {
  try {
    validateInput(tool.input, parameters);
  } catch (error) {
    if (error instanceof SandhavenError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

/** What is passed on, or the sentence of the refusal: some parameters are needed beside others. */
function outcome(tool: Tool, parameters: Record<string, unknown>): unknown {
  try {
    return validateInput(tool.input, parameters);
  } catch (error) {
    if (error instanceof SandhavenError) return error.message;
    throw error;
  }
}

describe.each(tools.map((tool) => [tool.name, tool] as const))('%s', (_name, tool) => {
  it('[SBX-CREATE-13] [SBX-CREATE-14] [SBX-CREATE-15] [SBX-CREATE-16] takes values at their bounds', () => {
    for (const [parameter, schema] of parametersOf(tool)) {
      for (const value of good(schema)) {
        const parameters = { ...validParameters(tool), [parameter]: value };
        const kept = validateInput(tool.input, parameters)[parameter];
        expect(kept, `${parameter} ${JSON.stringify(value)}`).toEqual(value);
      }
    }
  });

  it('[WIRE-ARGS-02] [WIRE-ARGS-03] [WIRE-ARGS-04] [SBX-RESIZE-02] [SBX-LIST-05] [SBX-CODE-03] [SBX-EXEC-04] [SBX-FILES-05] [SBX-FILES-10] [SBX-FILES-14] refuses values beyond them, by name', () => {
    for (const [parameter, schema] of parametersOf(tool)) {
      for (const value of bad(schema)) {
        const error = refusal(tool, {
          ...validParameters(tool),
          ...alsoGiven(parameter),
          [parameter]: value,
        });
        const shown = `${parameter} ${JSON.stringify(value)?.slice(0, 80)}`;
        expect(error.code, shown).toBe('invalid_argument');
        expect(error.fields.parameter?.split('.')[0], shown).toBe(parameter);
        expect(error.message, shown).toMatch(new RegExp(`^${parameter}\\b.*\\b(must|is|has)\\b`));
      }
    }
  });

  it('[WIRE-ARGS-01] [SBX-CREATE-20] [SBX-RESIZE-08] refuses unknown parameters by name', () => {
    for (const unknown of ['region', 'zz_top', '__proto__', 'constructor', 'toString']) {
      // Written as text: an object literal would take __proto__ for something else.
      const others = JSON.stringify(validParameters(tool)).slice(1, -1);
      const parameters = JSON.parse(`{"${unknown}":1${others === '' ? '' : `,${others}`}}`);
      const error = refusal(tool, parameters);
      expect(error.fields.parameter).toBe(unknown);
      expect(error.message).toContain(`There is no parameter "${unknown}"`);
    }
  });

  it('[WIRE-ARGS-05] [SBX-TOOLS-05] refuses a call without what it requires', () => {
    for (const parameter of describeTool(tool).input_schema.required ?? []) {
      const { [parameter]: _, ...others } = validParameters(tool);
      const error = refusal(tool, others);
      expect(error.fields.parameter).toBe(parameter);
      expect(error.message).toContain(`${parameter} is required.`);
    }
  });

  it('[WIRE-ARGS-06] takes null for an optional parameter as leaving it out, and refuses it for a required one', () => {
    const required = describeTool(tool).input_schema.required ?? [];
    for (const [parameter, schema] of parametersOf(tool)) {
      const { [parameter]: _, ...without } = validParameters(tool);
      const parameters = { ...without, [parameter]: null };
      if (required.includes(parameter)) {
        const error = refusal(tool, parameters);
        expect(error.fields.parameter).toBe(parameter);
        expect(error.message).toBe(`${parameter} is required.`);
        continue;
      }
      expect(outcome(tool, parameters), parameter).toEqual(outcome(tool, without));
      // As deep as there are named keys.
      for (const key of Object.keys(schema.properties ?? {})) {
        const nested = { ...validParameters(tool), [parameter]: { [key]: null } };
        expect(outcome(tool, nested), `${parameter}.${key}`).toMatchObject({ [parameter]: {} });
      }
    }
  });

  it('[WIRE-ARGS-04] refuses parameters that are no object', () => {
    for (const raw of [[], 'text', 5, true, null]) expect(refusal(tool, raw).code).toBe('invalid_argument');
  });
});
