/** DocumentDb.AggregateDocuments */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { present } from '../present.ts';
import { defineTool } from '../tool.ts';
import {
  checkTarget,
  collectionOf,
  collectionParameters,
  documentsOutput,
  json,
  readOnly,
  resultParameters,
} from './parameters.ts';
import { resultText, savingOptions, targetOf, toResultView, toSavedView } from './query-result.ts';

const { limit, stages } = limits.documents;

export const aggregateDocuments = defineTool({
  name: 'DocumentDb.AggregateDocuments',
  title: 'Aggregate documents',
  description:
    'Runs a read-only aggregation pipeline: $match, $group, $project, $sort, $lookup, $unwind, $facet … Begin with a ' +
    '$match on indexed fields. Load the schema of every collection first, also of $lookup, $graphLookup and $unionWith. ' +
    'Nothing can write or run JavaScript. For large results save into a sandbox.',
  input: z
    .strictObject({
      ...collectionParameters,
      pipeline: z
        .array(json())
        .max(stages)
        .describe('Stages as JSON texts such as {"$match": {"age": {"$gte": 18}}}.'),
      ...resultParameters,
    })
    .check(checkTarget),
  output: documentsOutput,
  annotations: readOnly,
  long: true,
  async handler(parameters, context) {
    const { documents } = context.services;
    const { pipeline, max_bytes } = parameters;
    const request = { ...collectionOf(parameters), pipeline };
    const target = targetOf(parameters);
    if (target) {
      const all = { ...request, ...present({ limit: parameters.limit }) };
      return toSavedView(
        target,
        await documents.saveAggregate(context.caller, all, target, savingOptions(context)),
      );
    }
    const bounded = { ...request, limit: parameters.limit ?? limit.default };
    const { caller, signal } = context;
    return toResultView(await documents.aggregate(caller, bounded, max_bytes, { signal }));
  },
  text: (result) => resultText(result as Parameters<typeof resultText>[0]),
});
