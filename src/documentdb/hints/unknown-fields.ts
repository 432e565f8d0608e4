/** Finds fields that a query names and no document was seen to have, and suggests the probable ones. */
import {
  type CollectionSchema,
  FILTER_PARAMETER,
  type FieldSchema,
  fieldAt,
  paths,
} from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import { conditionsOf, isOperators } from './filter-walk.ts';
import { firstSegment, type LeadingStage, leadingOf } from './leading-stages.ts';
import { isDocument, listedAs, named } from './values.ts';

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

/** Collects the collection's own fields that a query names, with their places. */
interface NamedField {
  path: string;
  /** The caller's name for the place: `filter_dict`, `sort`, `pipeline[2]`. */
  parameter: string;
}

interface FindFields {
  filter?: unknown;
  projection?: unknown;
  /** Sort fields, the first one first. */
  sort?: readonly string[] | undefined;
}

export function namedInFind({ filter, projection, sort }: FindFields): NamedField[] {
  return [
    ...at(FILTER_PARAMETER, namedInFilter(filter)),
    ...at('projection', namedInProjection(projection)),
    ...at('sort', sort ?? []),
  ];
}

export function namedInPipeline(stages: readonly unknown[]): NamedField[] {
  const { leading, reshaping } = leadingOf(stages);
  return [...leading, ...(reshaping ? [reshaping] : [])].flatMap((stage) => {
    const own = namedInStage(stage).filter((path) => !stage.written.has(firstSegment(path)));
    return at(`pipeline[${stage.index}]`, own);
  });
}

function at(parameter: string, paths: readonly string[]): NamedField[] {
  return [...new Set(paths)].filter((path) => path !== '').map((path) => ({ path, parameter }));
}

export function namedInFilter(filter: unknown): string[] {
  return conditionsOf(filter).flatMap(({ path, operator, value }) =>
    operator === '$expr' ? namedInExpression(value) : [path],
  );
}

/** 1, 0, true and false name a field; any other value computes one, from fields of its own. */
function namedInProjection(projection: unknown, prefix = ''): string[] {
  if (!isDocument(projection)) return [];
  return Object.entries(projection).flatMap(([key, value]) => {
    if (key.startsWith('$')) return [];
    const path = prefix + key.replace(/\.\$$/, '');
    if (typeof value === 'number' || typeof value === 'boolean') return [path];
    if (isOperators(value)) {
      const ofField = Object.hasOwn(value, '$elemMatch') || Object.hasOwn(value, '$slice');
      return ofField && typeof value['$slice'] !== 'object' ? [path] : namedInExpression(value);
    }
    return isDocument(value) ? namedInProjection(value, `${path}.`) : namedInExpression(value);
  });
}

function namedInStage({ name, body }: LeadingStage): string[] {
  const part = (key: string) => (isDocument(body) ? body[key] : undefined);
  switch (name) {
    case '$match':
      return namedInFilter(body);
    case '$sort':
      return isDocument(body) ? Object.keys(body) : [];
    case '$project':
      return namedInProjection(body);
    case '$unset':
      return [body].flat().filter((path) => typeof path === 'string');
    case '$lookup':
      return [part('localField'), ...namedInExpression(part('let'))].filter(
        (path) => typeof path === 'string',
      );
    case '$graphLookup':
      return namedInExpression(part('startWith'));
    case '$geoNear':
      return namedInFilter(part('query'));
    case '$facet':
      return [];
    default:
      return namedInExpression(body);
  }
}

/** `"$a.b"` in any place for an expression; `$$` is a variable. */
function namedInExpression(expression: unknown): string[] {
  if (typeof expression === 'string') return /^\$[^$]/.test(expression) ? [expression.slice(1)] : [];
  if (Array.isArray(expression)) return expression.flatMap(namedInExpression);
  if (!isDocument(expression)) return [];
  return Object.entries(expression).flatMap(([key, value]) =>
    key === '$literal' ? [] : namedInExpression(value),
  );
}
