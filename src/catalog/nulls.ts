/**
 * Treats `null` for an optional parameter as an omission: strict function calling of some model vendors sends every
 * parameter, with null for those that the model left out.
 */
import { z } from 'zod';

/**
 * Removes nulls as deep as the schema has objects with named keys. In a map, such as labels, null is no value and
 * stays.
 */
export function withoutNulls(schema: z.ZodObject, raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const given = raw as Record<string, unknown>;
  let changed: Record<string, unknown> | undefined;
  for (const [key, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(given, key)) continue;
    const value = given[key];
    const kept = value === null && isOptional(field) ? undefined : inner(field as z.core.$ZodType, value);
    if (kept === value) continue;
    changed ??= { ...given };
    if (kept === undefined) delete changed[key];
    else changed[key] = kept;
  }
  return changed ?? raw;
}

function isOptional(field: z.core.$ZodType): boolean {
  return z.safeParse(field, undefined).success;
}

function inner(field: z.core.$ZodType, value: unknown): unknown {
  let type = field;
  while (type instanceof z.ZodOptional || type instanceof z.ZodDefault) type = type.unwrap();
  const object = type instanceof z.ZodUnion ? type.options.find((one) => one instanceof z.ZodObject) : type;
  return object instanceof z.ZodObject ? withoutNulls(object, value) : value;
}
