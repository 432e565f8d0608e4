/** Queries one collection with the values of the form. */
import type { FindDocumentsResult } from '@sandhaven/sdk';
import { client } from '../service/client.ts';
import type { Place } from './place.ts';
import type { Kind, Written } from './query-form.tsx';
import { sortOf, splitArray } from './query-text.ts';
import type { Answer } from './result-view.tsx';

/** @param next Continuation of the answer before, if any. */
export async function ask(
  kind: Kind,
  place: Place,
  written: Written,
  next: FindDocumentsResult['next'],
): Promise<Answer> {
  const where = { database_name: place.database, collection_name: place.collection };
  const filter = written.filter.trim() === '' ? {} : { filter_dict: written.filter };
  if (kind === 'count') {
    const { result, notes = [] } = await client.documentDb.countDocuments({ ...where, ...filter });
    return { count: result, notes };
  }
  const limit = { limit: Number(written.limit) || 100 };
  if (kind === 'aggregate') {
    const pipeline = splitArray(written.pipeline);
    if (pipeline === null)
      throw new Error('The pipeline is not an array of stages, such as [{"$match": {}}].');
    const {
      result,
      has_more,
      notes = [],
    } = await client.documentDb.aggregateDocuments({ ...where, ...limit, pipeline });
    return { documents: result, hasMore: has_more, notes };
  }
  const sort = sortOf(written.sort);
  if (sort === null) throw new Error('The order is not an object such as {"age": -1}.');
  const found = await client.documentDb.findDocuments({
    ...{ ...where, ...filter, ...limit },
    ...(written.projection.trim() === '' ? {} : { projection: written.projection }),
    ...(sort.length === 0 ? {} : { sort }),
    ...next,
  });
  return { documents: found.result, hasMore: found.has_more, next: found.next, notes: found.notes ?? [] };
}
