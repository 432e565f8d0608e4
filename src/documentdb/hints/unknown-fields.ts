/** Fields that a query names and no document was seen to have, with what was probably meant. */
import type { CollectionSchema, FieldSchema } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import { fieldAt, paths } from '../../model/schema-lookup.ts';
import type { NamedField } from './named-fields.ts';
import { listed, listedAs, named } from './values.ts';

/** One note for each parameter that names any. */
export function unknownFields(fields: readonly NamedField[], schema: CollectionSchema): string[] {
  if (schema.fields.length === 0) return [];
  const judged = fields.slice(0, limits.documents.hintedConditions);
  const unknown = judged.filter(({ path }) => !isKnown(schema, path));
  const groups = Object.groupBy(unknown, ({ parameter }) => parameter);
  return Object.entries(groups).map(([parameter, group = []]) => {
    const all = group.map(({ path }) => path);
    const names = listedAs(all, named);
    return `${parameter}: ${names} ${all.length > 1 ? 'are' : 'is'} in ${where(schema)}.${meant(all, schema)}`;
  });
}

/** Below a field whose inside was not looked at anything may be. */
export function isKnown(schema: CollectionSchema, path: string): boolean {
  if (path === '_id' || fieldAt(schema, path) !== null) return true;
  const segments = path.split('.', limits.documents.depth + 1);
  if (segments.length > limits.documents.depth) return true;
  for (let length = segments.length - 1; length > 0; length--) {
    const field = fieldAt(schema, segments.slice(0, length).join('.'));
    if (field !== null) return isOpaque(field);
  }
  return false;
}

/** The likeliest first. Places of the same name go before names that are merely alike. */
export function suggestions(path: string, schema: CollectionSchema): string[] {
  const all = paths(schema);
  const same = all.filter((known) => plain(known) === plain(path));
  const elsewhere = all.filter((known) => plain(lastSegment(known)) === plain(lastSegment(path)));
  const beside = all.filter((known) => above(known) === above(path));
  const alike = nearest(lastSegment(path), beside.map(lastSegment), limits.documents.suggestions).flatMap(
    (name) => beside.filter((known) => lastSegment(known) === name),
  );
  const anywhere = nearest(path, all, limits.documents.suggestions);
  const names = nearest(lastSegment(path), all.map(lastSegment), limits.documents.suggestions);
  const alikeElsewhere = all.filter((known) => names.includes(lastSegment(known)));
  const best = [same, elsewhere, alike, anywhere, alikeElsewhere].find((found) => found.length > 0) ?? [];
  return [...new Set(best)].slice(0, limits.documents.suggestions);
}

function where({ sampled, sampleMethod }: CollectionSchema): string {
  if (sampleMethod === 'all')
    return sampled === 1 ? 'no document: there is one' : `none of the ${sampled} documents`;
  return `none of the ${sampled} documents sampled`;
}

function meant(unknown: readonly string[], schema: CollectionSchema): string {
  const known = unknown.slice(0, limits.documents.noteItems).flatMap((path) => suggestions(path, schema));
  const names = [...new Set(known)].map(named);
  if (names.length > 0) return ` Did you mean ${names.join(' or ')}?`;
  const top = schema.fields.map(({ path }) => named(path));
  return ` Its fields: ${listed(top, limits.documents.noteItems * 2)}.`;
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
