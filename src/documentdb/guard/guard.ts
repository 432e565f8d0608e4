/**
 * Enforces read-only queries, whatever the credentials allow: every part of a query is checked against a list of
 * permitted values for its place before anything is sent. No list contains anything that writes, runs JavaScript,
 * or reads another database or the server's internals. Every function throws `invalid_argument`, naming the place.
 */
import type { CollectionName } from '../../model/documents/schema.ts';
import { checkData, isPlainObject } from './data.ts';
import { checkFilterDocument } from './filter.ts';
import { checkDirections } from './order.ts';
import { checkStages } from './pipeline.ts';
import { placeOf, refused } from './place.ts';
import { checkProjectionDocument } from './projection.ts';
import { noVariables } from './scope.ts';

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
