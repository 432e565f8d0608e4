/** Finds fields that a query names and no document was seen to have, and suggests the probable ones. */
import type { CollectionSchema, FieldSchema } from '../../model/documents/schema.ts';
import { fieldAt, paths } from '../../model/documents/schema-lookup.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import type { NamedField } from './named-fields.ts';
import { listedAs, named } from './values.ts';

const { noteItems } = limits.documents;

/** Returns one note for each parameter with unknown fields. */
export function unknownFields(fields: readonly NamedField[], schema: CollectionSchema): string[] {
  const all = paths(schema);
  // A schema past its bound leaves fields out.
  if (all.length === 0 || all.length >= limits.documents.schema.fields) return [];
  const judged = fields.slice(0, limits.documents.hintedConditions);
  const unknown = judged.filter(({ path }) => !isKnown(schema, path));
  const meant = new Map<string, string[]>();
  for (const { path } of unknown.slice(0, limits.documents.suggestedFor)) {
    if (!meant.has(path)) meant.set(path, suggestions(path, all));
  }
  const listedAbove = new Set<string>();
  const groups = Object.groupBy(unknown, ({ parameter }) => parameter);
  return Object.entries(groups).map(([parameter, group = []]) => {
    const names = group.map(({ path }) => path);
    const near = [...new Set(names.flatMap((path) => meant.get(path) ?? []))].slice(0, noteItems).map(named);
    const advice =
      near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : there(names[0] ?? '', schema, listedAbove);
    return `${parameter}: ${listedAs(names, named)} ${names.length > 1 ? 'are' : 'is'} in ${where(schema)}.${advice}`;
  });
}

/** Anything may be below a field that was not inspected inside. */
export function isKnown(schema: CollectionSchema, path: string): boolean {
  if (path === '_id' || fieldAt(schema, path) !== null) return true;
  if (path.length > limits.documents.schema.nameBytes) return true;
  const { judgedSegments } = limits.documents;
  const segments = path.split('.', judgedSegments + 1);
  if (segments.length > judgedSegments) return true;
  for (let length = segments.length - 1; length > 0; length--) {
    const field = fieldAt(schema, segments.slice(0, length).join('.'));
    if (field !== null) return isOpaque(field);
  }
  return false;
}

/** Returns the likeliest first. Paths with the same name go before merely similar names. */
export function suggestions(path: string, known: readonly string[]): string[] {
  const { comparedNames, comparedNameChars, suggestions: most } = limits.documents;
  const same = known.filter((other) => plain(other) === plain(path));
  const elsewhere = known.filter((other) => plain(lastSegment(other)) === plain(lastSegment(path)));
  if (same.length + elsewhere.length > 0) return [...new Set([...same, ...elsewhere])].slice(0, most);
  const near = known.filter(({ length }) => length <= comparedNameChars).slice(0, comparedNames);
  const names = new Set(nearest(lastSegment(path), near.map(lastSegment), most));
  const alike = near.filter((other) => names.has(lastSegment(other)));
  const beside = alike.filter((other) => above(other) === above(path));
  // Names from elsewhere would mislead inside an existing document.
  if (beside.length > 0 || known.includes(above(path))) return beside.slice(0, most);
  const anywhere = path.includes('.') ? nearest(path, near, most) : [];
  return (anywhere.length > 0 ? anywhere : alike).slice(0, most);
}

function where({ sampled, sampleMethod }: CollectionSchema): string {
  if (sampleMethod !== 'all') return `none of the ${sampled} documents sampled`;
  return sampled === 1 ? 'no document: there is one' : `none of the ${sampled} documents`;
}

/** Lists the fields at the same place, or else at the top; each list only once in all notes. */
function there(path: string, schema: CollectionSchema, listedParents: Set<string>): string {
  const parent = fieldAt(schema, above(path));
  const fields = parent?.fields ?? schema.fields;
  const whose = parent?.fields ? `Fields of ${named(parent.path)}` : 'Its fields';
  if (listedParents.has(whose)) return '';
  listedParents.add(whose);
  const names = fields.map((field) => (parent?.fields ? lastSegment(field.path) : field.path));
  return ` ${whose}: ${listedAs(names, named, noteItems * 2)}.`;
}

/** The field holds documents that the schema does not describe. */
function isOpaque({ types, fields }: FieldSchema): boolean {
  const holds = types.some(
    ({ type, elements }) => type === 'object' || elements?.some((element) => element.type === 'object'),
  );
  return holds && (fields ?? []).length === 0;
}

function plain(path: string): string {
  return path.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}
