/** DocumentDb.CountDocuments */
import { z } from 'zod';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { collectionOf, collectionParameters, filter, notes, readOnly } from './parameters.ts';

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
