/** Looks up a field of a collection's schema by its path in a query. */
import type { CollectionSchema, FieldSchema, FieldType } from './document-schema.ts';

/** Stands in a path for names that are data. */
export const anyKey = '<key>';

type Fields = Pick<CollectionSchema, 'fields'>;

/**
 * Returns the field of a path such as `address.city`, `items.sku`, `items.0.sku` or `counts.abc`, or null. A path that
 * ends in an array's index means the array's own field.
 */
export function fieldAt(schema: Fields, path: string): FieldSchema | null {
  return path === '' ? null : within(schema.fields, 0, path);
}

/** Returns every path, parents before their children. */
export function paths(schema: Fields): string[] {
  return schema.fields.flatMap((field) => [field.path, ...paths({ fields: field.fields ?? [] })]);
}

/**
 * Returns the types that a comparison with the field meets: its own, and those of the elements of its arrays, once
 * each.
 */
export function comparedTypes(field: FieldSchema): string[] {
  return [...new Set(typesOf(field.types))];
}

function typesOf(types: readonly FieldType[]): string[] {
  return types.flatMap(({ type, elements }) => [type, ...typesOf(elements ?? [])]);
}

/**
 * Compares the path name by name, not cut at its dots, since names may hold dots themselves; an exact name precedes a
 * name that is data.
 *
 * @param above Length of the path around `fields`, with its dot.
 */
function within(fields: readonly FieldSchema[], above: number, rest: string): FieldSchema | null {
  for (const field of fields) {
    if (field.keys !== undefined) continue;
    const name = field.path.slice(above);
    if (rest === name) return field;
    if (!rest.startsWith(`${name}.`)) continue;
    const found = below(field, rest.slice(name.length + 1));
    if (found !== null) return found;
  }
  const any = fields.find(({ keys }) => keys !== undefined);
  if (any === undefined) return null;
  const dot = rest.indexOf('.');
  return dot === -1 ? any : below(any, rest.slice(dot + 1));
}

function below(field: FieldSchema, rest: string): FieldSchema | null {
  const found = within(field.fields ?? [], field.path.length + 1, rest);
  if (found !== null || !field.types.some(({ type }) => type === 'array')) return found;
  const index = /^\d+(?:\.|$)/.exec(rest)?.[0];
  if (index === undefined) return null;
  return index.length === rest.length ? field : below(field, rest.slice(index.length));
}
