/**
 * Enforces read-only queries, whatever the credentials allow: every part of a query is checked against a list of
 * permitted values for its place before anything is sent. No list contains anything that writes, runs JavaScript,
 * or reads another database or the server's internals. Every function throws `invalid_argument`, naming the place.
 */
import type { CollectionName } from '../../model/document-schema.ts';
import { checkData, isPlainObject, type PlainObject } from './data.ts';
import { checkExpression } from './expression.ts';
import { checkFilterDocument } from './filter.ts';
import { checkDirections, checkPath } from './order.ts';
import { checkStages } from './pipeline.ts';
import { noVariables, type Place, placeOf, refused, within } from './place.ts';

export function checkFilter(filter: unknown, parameter: string): void {
  const place = placeOf(parameter);
  checkData(filter, place);
  checkFilterDocument(filter, place, { scope: noVariables, stands: 'find' });
}

export function checkProjection(projection: unknown, parameter: string): void {
  const place = placeOf(parameter);
  checkData(projection, place);
  if (!isPlainObject(projection)) {
    throw refused(place, 'must be an object.', 'Write {"field": 1} for the fields to include.');
  }
  checkProjectionDocument(projection, place);
}

/** @param sort Paths and directions; a Map keeps the order of names that are numbers. */
export function checkSort(sort: unknown, parameter: string): void {
  const place = placeOf(parameter);
  if (sort instanceof Map) {
    for (const key of sort.keys()) {
      if (typeof key !== 'string') throw refused(place, 'must be by names.', 'Name fields by their path.');
    }
  }
  const fields: unknown = sort instanceof Map ? Object.fromEntries(sort) : sort;
  checkData(fields, place);
  if (!isPlainObject(fields)) throw refused(place, 'must be an object.', 'Write {"field": 1}.');
  checkDirections(Object.entries(fields), place);
}

/** @returns every collection that it reads, each once: `home`, and then in the order of the pipeline. */
export function checkPipeline(
  pipeline: unknown,
  parameter: string,
  home: CollectionName,
): { sources: CollectionName[] } {
  const place = placeOf(parameter);
  checkData(pipeline, place);
  const sources = new Set([home.collection]);
  checkStages(pipeline, place, { home, sources, scope: noVariables, inFacet: false, sourceless: false });
  return { sources: [...sources].map((collection) => ({ database: home.database, collection })) };
}

/** Walks the projection of a find: fields in or out, parts of lists, and expressions. */
function checkProjectionDocument(projection: PlainObject, place: Place): void {
  for (const key of Object.keys(projection)) {
    const here = within(place, key);
    checkProjectedPath(key, here);
    checkProjected(projection[key], here);
  }
}

function checkProjected(value: unknown, place: Place): void {
  const [first, ...others] = isPlainObject(value) ? Object.keys(value) : [];
  if (!isPlainObject(value)) {
    checkExpression(value, place, noVariables);
  } else if (first === undefined) {
    throw refused(place, 'is empty.', 'Use 1 to include the field and 0 to leave it out.');
  } else if (!first.startsWith('$')) {
    checkProjectionDocument(value, place);
  } else if (first === '$elemMatch' && others.length === 0) {
    checkFilterDocument(value[first], within(place, first), { scope: noVariables, stands: 'later' });
  } else {
    // Numeric `$slice` is the projection's own, and is also a valid expression.
    checkExpression(value, place, noVariables);
  }
}

/** `list.$` names the element that matched the filter. */
function checkProjectedPath(path: string, place: Place): void {
  checkPath(path.endsWith('.$') ? path.slice(0, -2) : path, place);
}
