/** DocumentDb.AggregateDocuments */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import {
  checkTarget,
  collectionOf,
  collectionParameters,
  documentsOutput,
  json,
  mayMakeAFile,
  resultParameters,
} from './parameters.ts';
import { answer, resultText } from './query-result.ts';

const { stages } = limits.documents;

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
  annotations: mayMakeAFile,
  long: true,
  async handler(parameters, context) {
    const { documents } = context.services;
    const request = { ...collectionOf(parameters), pipeline: parameters.pipeline };
    return answer(parameters, request, context, {
      run: (...call) => documents.aggregate(...call),
      save: (...call) => documents.saveAggregate(...call),
    });
  },
  text: resultText,
});
