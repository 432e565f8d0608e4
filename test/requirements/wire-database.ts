/** Wire shapes: the document database. */
import type { Rules } from './requirement.ts';

export const wireDatabase: Rules = {
  'WIRE-DB-01':
    'DiscoverDatabases gives name, size_on_disk and empty of each; admin, config and local are left out.',
  'WIRE-DB-02':
    'DiscoverCollections gives name, type, document_count (estimated; null for a view) and indexes of each.',
  'WIRE-DB-03': 'GetCollectionSchema gives sampled, sample_method, document_count, fields and indexes.',
  'WIRE-DB-04':
    'A field has path, types with count and probability, probability and examples; types are BSON aliases.',
  'WIRE-DB-05': 'An empty collection has no fields.',
  'WIRE-DB-06': 'The schema of a collection that is not there: not_found, with the nearest names.',
  'WIRE-DB-07': 'Documents are relaxed Extended JSON; integers beyond 2^53 either way are $numberLong.',
  'WIRE-DB-08': 'Filters, projections, sorts and stages accept Extended JSON.',
  'WIRE-DB-09': 'An array or an integer comes as result, with returned, has_more and notes where they apply.',
  'WIRE-DB-10':
    'limit is 1 to 10000 and holds whatever the pipeline says; skip is at least 0; bytes cut an answer only at 16 MiB ' +
    'or where the caller asked for less.',
  'WIRE-DB-11': 'Stages and operators are allow-listed at any depth, whatever the credentials allow.',
  'WIRE-DB-12':
    '$out, $merge, $where, $function, $accumulator and other databases are refused before anything is sent.',
  'WIRE-DB-13': 'Literals and field values that merely look like operators pass.',
  'WIRE-DB-14': 'Order of use is kept per API key until the service restarts.',
  'WIRE-DB-15':
    'Use before discovery or before the schema: failed_precondition, naming the call to make first.',
  'WIRE-DB-16': 'Sources of $lookup, $graphLookup and $unionWith need their schema loaded too.',
  'WIRE-DB-17': 'DOCUMENTDB_ORDER_OF_USE=advise turns the refusal into a note in the result.',
  'WIRE-DB-18': 'A filter runs as written, and what it finds so is the result.',
  'WIRE-DB-19':
    'Only where a filter finds nothing is a form tried whose strings are coerced to ObjectId, date and number; its ' +
    'result has a note that says so.',
  'WIRE-DB-20': 'No answer depends on which documents a sample drew.',
  'WIRE-DB-21': 'Saving into a sandbox never replaces a file.',
};
