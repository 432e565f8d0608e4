/** Tools that query a collection. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { integerWithDefault } from '../parameters/scalars.ts';
import {
  checkTarget,
  collectionOf,
  collectionParameters,
  documentsOutput,
  filter,
  json,
  mayMakeAFile,
  notes,
  readOnly,
  resultParameters,
} from './parameters.ts';
import { answer, resultText } from './query-result.ts';

const { skip, sortFields } = limits.documents;

export const findDocuments = defineTool({
  name: 'DocumentDb.FindDocuments',
  title: 'Find documents',
  description:
    'Returns documents as relaxed Extended JSON strings. Load the schema first; filter by indexed fields with $gte, $in, ' +
    '$regex …; always give a projection of the fields you need and a sort (by _id if unsure). Strings compare ' +
    'case-sensitively. has_more: go on with next. A filter runs as written; only if nothing ' +
    'matches are strings also tried as ObjectId, date or number, which notes say. For large results save into a sandbox ' +
    'and analyse them with RunCode. already_exists: a save never replaces a file.',
  input: z
    .strictObject({
      ...collectionParameters,
      filter_dict: filter,
      projection: json().optional().describe('JSON text, 1 includes and 0 excludes a field (default: all).'),
      sort: z
        .array(json())
        .max(sortFields)
        .default([])
        .describe('JSON texts such as {"field": "age", "direction": -1} (default: none).'),
      skip: integerWithDefault('Documents to skip', skip),
      ...resultParameters,
    })
    .check(checkTarget),
  output: documentsOutput,
  annotations: mayMakeAFile,
  long: true,
  async handler(parameters, context) {
    const { documents } = context.services;
    const { filter_dict, projection, sort, skip } = parameters;
    const request = {
      ...collectionOf(parameters),
      ...withoutUndefined({ filter: filter_dict, projection }),
      sort,
      skip,
    };
    return answer(parameters, request, context, {
      run: (...call) => documents.find(...call),
      save: (...call) => documents.saveFind(...call),
    });
  },
  text: resultText,
});

export const countDocuments = defineTool({
  name: 'DocumentDb.CountDocuments',
  title: 'Count documents',
  description:
    'Counts the documents that match a filter, exactly. Load the schema first. A count of 0 comes with notes that say ' +
    'which condition removed everything, where that is cheap to know.',
  input: z.strictObject({ ...collectionParameters, filter_dict: filter }),
  output: z.looseObject({ result: z.int(), notes }),
  annotations: readOnly,
  async handler(parameters, { services, caller, signal }) {
    const request = { ...collectionOf(parameters), ...withoutUndefined({ filter: parameters.filter_dict }) };
    const { count, notes } = await services.documents.count(caller, request, { signal });
    return { result: count, ...(notes.length > 0 ? { notes } : {}) };
  },
  text: ({ result, notes }) => [String(result), ...(notes ?? []).map((note) => `Note: ${note}`)].join('\n'),
});

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
