/** DocumentDb.GetCollectionSchema */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { integerWithDefault } from '../parameters/scalars.ts';
import { collectionOf, collectionParameters, notes, readOnly } from './parameters.ts';
import { presentSchema } from './schema-view.ts';

export const getCollectionSchema = defineTool({
  name: 'DocumentDb.GetCollectionSchema',
  title: 'Learn what the documents look like',
  description:
    'Infers the structure of a collection from a sample of its documents: fields, BSON types, how often each is there, ' +
    'ranges, enums, patterns of strings (9 for digits), examples (empty where enum, min or fields say it), and the ' +
    'indexes to filter by. Required before querying, for every collection of the ' +
    'query ($lookup sources too). failed_precondition: DiscoverCollections first.',
  input: z.strictObject({
    ...collectionParameters,
    sample_size: integerWithDefault('Documents to sample', limits.documents.sampleSize),
  }),
  output: z.looseObject({
    database_name: z.string(),
    collection_name: z.string(),
    sampled: z.int(),
    sample_method: z.enum(['all', 'random', 'first']),
    document_count: z.int().nullable(),
    fields: z.array(z.looseObject({ path: z.string(), probability: z.number() })),
    indexes: z.array(z.looseObject({ name: z.string(), unique: z.boolean() })),
    notes,
  }),
  annotations: readOnly,
  async handler(parameters, { services, caller, signal }) {
    const { sample_size } = parameters;
    const schema = await services.documents.schema(caller, collectionOf(parameters), sample_size, { signal });
    return presentSchema(schema);
  },
});
