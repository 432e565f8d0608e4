/** Fields that a query names and no document was seen to have, with what was probably meant. */
import type { CollectionSchema, FieldSchema } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import { fieldAt, paths } from '../../model/schema-lookup.ts';
import type { NamedField } from './named-fields.ts';
import { listedAs, named } from './values.ts';

/** One note for each parameter that names any. */
export function unknownFields(fields: readonly NamedField[], schema: CollectionSchema): string[] {
  const all = paths(schema);
  // Past its bound a schema leaves fields out.
  if (all.length === 0 || all.length >= limits.documents.schema.fields) return [];
  const judged = fields.slice(0, limits.documents.hintedConditions);
  const unknown = judged.filter(({ path }) => !isKnown(schema, path));
  const meant = new Map<string, string[]>();
  for (const { path } of unknown.slice(0, limits.documents.suggestedFor)) {
    if (!meant.has(path)) meant.set(path, suggestions(path, all));
  }
  const groups = Object.groupBy(unknown, ({ parameter }) => parameter);
  return Object.entries(groups).map(([parameter, group = []]) => {
    const names = group.map(({ path }) => path);
    const advice = advise(
      names.flatMap((path) => meant.get(path) ?? []),
      schema,
    );
    return `${parameter}: ${listedAs(names, named)} ${names.length > 1 ? 'are' : 'is'} in ${where(schema)}.${advice}`;
  });
}

/** Below a field whose inside was not looked at anything may be. */
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

/** The likeliest first. Places of the same name go before names that are merely alike. */
export function suggestions(path: string, known: readonly string[]): string[] {
  const { comparedNames, comparedNameChars, suggestions: most } = limits.documents;
  const same = known.filter((other) => plain(other) === plain(path));
  const elsewhere = known.filter((other) => plain(lastSegment(other)) === plain(lastSegment(path)));
  if (same.length + elsewhere.length > 0) return [...new Set([...same, ...elsewhere])].slice(0, most);
  const near = known.filter(({ length }) => length <= comparedNameChars).slice(0, comparedNames);
  const names = new Set(nearest(lastSegment(path), near.map(lastSegment), most));
  const alike = near.filter((other) => names.has(lastSegment(other)));
  const beside = alike.filter((other) => above(other) === above(path));
  const anywhere = path.includes('.') && beside.length === 0 ? nearest(path, near, most) : [];
  const best = [beside, anywhere, alike].find((found) => found.length > 0) ?? [];
  return best.slice(0, most);
}

function where({ sampled, sampleMethod }: CollectionSchema): string {
  if (sampleMethod === 'all')
    return sampled === 1 ? 'no document: there is one' : `none of the ${sampled} documents`;
  return `none of the ${sampled} documents sampled`;
}

function advise(meant: readonly string[], schema: CollectionSchema): string {
  const names = [...new Set(meant)].slice(0, limits.documents.noteItems).map(named);
  if (names.length > 0) return ` Did you mean ${names.join(' or ')}?`;
  const top = schema.fields.map(({ path }) => path);
  return ` Its fields: ${listedAs(top, named, limits.documents.noteItems * 2)}.`;
}

/** It holds documents, but the schema says nothing of them. */
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
