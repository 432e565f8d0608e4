/** DocumentDb.FindDocuments */
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
