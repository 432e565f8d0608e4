/**
 * JSON Schema of inputs and outputs, in the narrow dialect that all model vendors accept: no $ref, no type arrays, no
 * exclusive bounds, no additionalProperties, and no combination of schemas at the top. The service enforces rules
 * beyond the dialect all the same, such as the refusal of unknown parameters.
 */
import { z } from 'zod';
import type { Tool } from './base/tool.ts';

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

/** Includes keywords outside the dialect, such as the values of maps, for readers other than model vendors. */
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
