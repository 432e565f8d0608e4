/** Collects the collection's own fields that a query names, with their places. */
import { conditionsOf, isOperators } from './filter-walk.ts';
import { firstSegment, type LeadingStage, leadingOf } from './leading-stages.ts';
import { isDocument } from './values.ts';

export interface NamedField {
  path: string;
  /** The caller's name for the place: `filter_dict`, `sort`, `pipeline[2]`. */
  parameter: string;
}

export interface FindFields {
  filter?: unknown;
  projection?: unknown;
  /** Sort fields, the first one first. */
  sort?: readonly string[] | undefined;
}

export function namedInFind({ filter, projection, sort }: FindFields): NamedField[] {
  return [
    ...at('filter_dict', namedInFilter(filter)),
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
