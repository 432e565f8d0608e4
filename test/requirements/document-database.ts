/** Document-database toolkit. */
import type { Rules } from './requirement.ts';

export const documentDatabase: Rules = {
  'DDB-TOOLS-01': 'There are exactly 6 tools named DocumentDb.<ToolName>.',
  'DDB-TOOLS-02': 'Filters, projections, sort criteria and pipeline stages are passed as JSON text.',
  'DDB-TOOLS-03': 'Result documents come as JSON text, one string each, with their _id.',
  'DDB-TOOLS-04': 'The descriptions tell the order of use, and to project, to sort and to use indexes.',

  'DDB-DISCOVER-01': 'DiscoverDatabases takes no parameter and lists the databases.',
  'DDB-DISCOVER-02': 'DiscoverCollections requires database_name and lists its collections.',

  'DDB-SCHEMA-01': 'GetCollectionSchema requires database_name and collection_name.',
  'DDB-SCHEMA-02': 'The schema gives fields and their types, inferred from a sample of documents.',
  'DDB-SCHEMA-03': 'sample_size is an integer and defaults to 1000.',

  'DDB-FIND-01': 'FindDocuments requires database_name and collection_name.',
  'DDB-FIND-02': 'filter_dict, JSON text, selects documents; without it all are meant.',
  'DDB-FIND-03':
    'projection, JSON text, includes fields with 1 and excludes them with 0; without it all fields come.',
  'DDB-FIND-04':
    'sort is an array of JSON texts, each with field and direction (1 ascending, -1 descending).',
  'DDB-FIND-05': 'limit is an integer and defaults to 1000.',
  'DDB-FIND-06': 'skip is an integer and defaults to 0.',
  'DDB-FIND-07': 'Query operators such as $gte, $lte, $in and $regex work.',
  'DDB-FIND-08': 'Comparison of strings is case-sensitive.',

  'DDB-COUNT-01': 'CountDocuments requires database_name and collection_name and gives an integer.',
  'DDB-COUNT-02': 'CountDocuments: filter_dict selects documents; without it all are counted.',

  'DDB-AGG-01':
    'AggregateDocuments requires database_name, collection_name and pipeline, an array of JSON texts.',
  'DDB-AGG-02': 'Stages such as $match, $group, $project, $sort, $limit and $lookup work.',
  'DDB-AGG-03': 'limit is an integer and defaults to 1000.',

  'DDB-ORDER-01': 'A collection that was not discovered cannot be used.',
  'DDB-ORDER-02':
    'A collection whose schema was not loaded cannot be queried, nor any other collection in the query.',

  'DDB-AUTH-01': 'The connection string is taken from DOCUMENTDB_CONNECTION_STRING; every tool requires it.',
  'DDB-AUTH-02': 'The connection string, and the password in it, are in no result, error or log.',
};
