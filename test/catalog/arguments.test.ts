/** Every tool refuses wrong types, unknown names and missing parameters alike, and takes null as leaving one out. */
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { validateInput } from '../../src/catalog/validate.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import type { Parameter, ToolContract } from '../contract/notation.ts';
import { contract } from '../contract/table.ts';
import { callWith, leastCall } from '../contract/values.ts';

/** One value of each type, and a number that is no integer. */
const ofEveryType = [[], 'text', 7, true, {}, 1.5];

function ofWrongTypes({ type, kinds = [] }: Parameter): unknown[] {
  const others = ofEveryType.filter((value) => !isOfType(value, type));
  switch (type) {
    case 'integer':
      return [...others, '1', '7', -(2 ** 53), 2 ** 53, -1e300, 1e300];
    case 'boolean':
      return [...others, 'true', 0, 1];
    case 'json':
      return [...others, { key: 1 }, { key: null }, '{"a":"b"}'];
    case 'strings':
      return [...others, [1], ['x', null], [['x']], '["x"]'];
    case 'either':
      return others.filter((value) => !kinds.some((kind) => isOfType(value, kind.type)));
    case 'string':
      return others;
  }
}

function isOfType(value: unknown, type: Parameter['type']): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'strings') return Array.isArray(value);
  if (type === 'json') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}

function accept({ name }: ToolContract, parameters: unknown): Record<string, unknown> {
  return validateInput(findTool(name).input, parameters);
}

function refusal(tool: ToolContract, parameters: unknown): SandhavenError {
  try {
    accept(tool, parameters);
  } catch (error) {
    if (error instanceof SandhavenError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

/** Parameters that are passed on, or the sentence of the refusal: some are needed beside others. */
function outcome(tool: ToolContract, parameters: Record<string, unknown>): unknown {
  try {
    return accept(tool, parameters);
  } catch (error) {
    if (error instanceof SandhavenError) return error.message;
    throw error;
  }
}

describe.each(contract.map((tool) => [tool.name, tool] as const))('%s', (_name, tool) => {
  const parameters = Object.entries(tool.parameters);
  const required = Object.keys(tool.parameters).filter((name) => tool.parameters[name]?.required);

  it('[WIRE-ARGS-02] [WIRE-ARGS-03] [WIRE-ARGS-04] refuses values of other types, by name', () => {
    for (const [name, parameter] of parameters) {
      for (const value of ofWrongTypes(parameter)) {
        const error = refusal(tool, callWith(tool, name, value));
        const shown = `${name} ${JSON.stringify(value)}`;
        expect(error.code, shown).toBe('invalid_argument');
        expect(error.fields.parameter?.split('.')[0], shown).toBe(name);
        expect(error.message, shown).toMatch(new RegExp(`^${name}\\b.*\\b(must|is|has)\\b`));
      }
    }
  });

  it('[WIRE-ARGS-01] [SBX-CREATE-20] [SBX-RESIZE-08] refuses unknown parameters by name', () => {
    for (const unknown of ['region', 'zz_top', '__proto__', 'constructor', 'toString']) {
      // Written as text: an object literal would take __proto__ for something else.
      const others = JSON.stringify(leastCall(tool)).slice(1, -1);
      const error = refusal(tool, JSON.parse(`{"${unknown}":1${others === '' ? '' : `,${others}`}}`));
      expect(error.fields.parameter).toBe(unknown);
      expect(error.message).toContain(`There is no parameter "${unknown}"`);
    }
  });

  it('[WIRE-ARGS-05] [SBX-TOOLS-05] refuses a call without what it requires', () => {
    for (const name of required) {
      const { [name]: _, ...others } = leastCall(tool);
      const error = refusal(tool, others);
      expect(error.fields.parameter).toBe(name);
      expect(error.message).toContain(`${name} is required.`);
    }
  });

  it('takes a call with nothing but what it requires', () => {
    expect(accept(tool, leastCall(tool))).toMatchObject(leastCall(tool));
  });

  it('[WIRE-ARGS-06] takes null for an optional parameter as leaving it out, and refuses it for a required one', () => {
    for (const [name, parameter] of parameters) {
      const { [name]: _, ...without } = callWith(tool, name, null);
      const withNull = { ...without, [name]: null };
      if (parameter.required) {
        const error = refusal(tool, withNull);
        expect(error.fields.parameter).toBe(name);
        expect(error.message).toBe(`${name} is required.`);
        continue;
      }
      expect(outcome(tool, withNull), name).toEqual(outcome(tool, without));
      // As deep as there are named keys.
      for (const key of Object.keys(parameter.keys ?? {})) {
        const nested = callWith(tool, name, { [key]: null });
        expect(outcome(tool, nested), `${name}.${key}`).toMatchObject({ [name]: {} });
      }
    }
  });

  it('[WIRE-ARGS-04] refuses parameters that are no object', () => {
    for (const raw of [[], 'text', 5, true, null]) expect(refusal(tool, raw).code).toBe('invalid_argument');
  });
});
