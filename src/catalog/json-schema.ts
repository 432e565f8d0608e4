/**
 * JSON Schema of inputs and outputs, in the narrow dialect that all model vendors accept: no $ref, no type
 * arrays, no exclusive bounds, no additionalProperties, and nothing that combines schemas at the top. What it
 * cannot say, such as that unknown parameters are refused, the service enforces all the same.
 */
import { z } from 'zod';
import type { Tool } from './tool.ts';

export interface JsonSchema {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  [keyword: string]: unknown;
}

export function inputJsonSchema({ input }: Pick<Tool, 'input'>): JsonSchema {
  return narrow(input, 'input');
}

export function outputJsonSchema({ output }: Pick<Tool, 'output'>): JsonSchema {
  return narrow(output, 'output');
}

/** With what the dialect leaves out, such as the values of maps: for readers that are no model's vendor. */
export function fullJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(schema, { io, reused: 'inline' }) as JsonSchema;
}

/** Keywords outside the dialect, and our own marks on a schema. */
const dropped = new Set(['$schema', 'additionalProperties', 'propertyNames', 'sensitive', 'unlisted']);

function narrow(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  return simplify(fullJsonSchema(schema, io));
}

function simplify(node: JsonSchema): JsonSchema {
  const kept = Object.entries(node).filter(([keyword]) => !dropped.has(keyword));
  const simple: JsonSchema = Object.fromEntries(kept);
  if (simple.minimum === Number.MIN_SAFE_INTEGER) delete simple.minimum;
  if (simple.maximum === Number.MAX_SAFE_INTEGER) delete simple.maximum;
  if (simple.items) simple.items = simplify(simple.items);
  if (simple.anyOf) simple.anyOf = simple.anyOf.map(simplify);
  if (simple.properties) {
    const properties = Object.entries(simple.properties).map(([name, child]) => [name, simplify(child)]);
    simple.properties = Object.fromEntries(properties);
  }
  const types: unknown = simple.type;
  if (!Array.isArray(types)) return simple;
  const { type: _, ...rest } = simple;
  return { ...rest, anyOf: types.map((type: string) => ({ type })) };
}
