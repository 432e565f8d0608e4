/** Calls that a caller got wrong, for a collection `things` with the fields `n`, `name` and `list`. */
import type { Parameters } from './service.ts';

/** What is called, with what beside database and collection, and what the refusal names and says. */
export type BadCall = [what: string, tool: string, parameters: Parameters, parameter: string, says: string];

const find = 'FindDocuments';
const aggregate = 'AggregateDocuments';
const count = 'CountDocuments';
const schema = 'GetCollectionSchema';
const collections = 'DiscoverCollections';

const text: BadCall[] = [
  ['no JSON', find, { filter_dict: "{'n': 1}" }, 'filter_dict', 'line 1, column 2'],
  ['JSON that ends early', find, { filter_dict: '{"n": {"$gt": 1}' }, 'filter_dict', 'line 1, column 17'],
  ['a comma too many', count, { filter_dict: '{"n": 1,}' }, 'filter_dict', 'line 1, column 9'],
  ['a number that is none', find, { filter_dict: '{"n": 01}' }, 'filter_dict', 'line 1, column 7'],
  ['nothing', find, { filter_dict: '' }, 'filter_dict', 'is empty'],
  ['a list as a filter', find, { filter_dict: '[]' }, 'filter_dict', 'it is an array'],
  ['a text as a filter', count, { filter_dict: '"x"' }, 'filter_dict', 'it is a string'],
  ['null as a filter', find, { filter_dict: 'null' }, 'filter_dict', 'it is null'],
  ['an object in the place of its text', find, { filter_dict: { n: 1 } }, 'filter_dict', 'must be a string'],
  [
    'an id that is none',
    find,
    { filter_dict: '{"_id": {"$oid": "xyz"}}' },
    'filter_dict',
    'filter_dict._id.$oid',
  ],
  [
    'a key twice',
    find,
    { filter_dict: '{"n": 1, "n": 2}' },
    'filter_dict',
    'a second time at line 1, column 10',
  ],
  ['a projection that is no JSON', find, { projection: '{n: 1}' }, 'projection', 'line 1, column 2'],
  ['a list as a projection', find, { projection: '["n"]' }, 'projection', 'it is an array'],
  ['a sort that is no JSON', find, { sort: ['n'] }, 'sort', 'sort[0] is not valid JSON'],
  [
    'a sort that is one text',
    find,
    { sort: '{"field": "n", "direction": 1}' },
    'sort',
    'must be a JSON array',
  ],
  [
    'a stage that is no JSON',
    aggregate,
    { pipeline: ['{"$match": {}}', '{"$limit": }'] },
    'pipeline',
    'pipeline[1] is not valid JSON: } is where a value should be at line 1, column 12',
  ],
  [
    'a pipeline that is one text',
    aggregate,
    { pipeline: '[{"$match": {}}]' },
    'pipeline',
    'must be a JSON array',
  ],
  ['a stage that is an object', aggregate, { pipeline: [{ $match: {} }] }, 'pipeline', 'must be a string'],
  ['no pipeline', aggregate, {}, 'pipeline', 'is required'],
];

const meaning: BadCall[] = [
  [
    'an operator that is not known',
    find,
    { filter_dict: '{"n": {"$gtt": 1}}' },
    'filter_dict',
    'filter_dict.n.$gtt',
  ],
  [
    'an operator at the top that is none',
    find,
    { filter_dict: '{"$gt": 1}' },
    'filter_dict',
    'filter_dict.$gt',
  ],
  ['JavaScript', count, { filter_dict: '{"$where": "true"}' }, 'filter_dict', 'JavaScript'],
  ['$in without a list', find, { filter_dict: '{"n": {"$in": 1}}' }, 'filter_dict', 'must be a list'],
  ['a sort without a direction', find, { sort: ['{"field": "n"}'] }, 'sort', 'sort[0] needs direction'],
  ['a sort as MongoDB has it', find, { sort: ['{"n": 1}'] }, 'sort', "unknown key 'n'"],
  [
    'a direction that is none',
    find,
    { sort: ['{"field": "n", "direction": "up"}'] },
    'sort',
    'neither 1 (ascending) nor -1',
  ],
  [
    'a direction of 2',
    find,
    { sort: ['{"field": "n", "direction": 2}'] },
    'sort',
    'neither 1 (ascending) nor -1',
  ],
  [
    'a field twice in a sort',
    find,
    { sort: ['{"field": "n", "direction": 1}', '{"field": "n", "direction": -1}'] },
    'sort',
    "sort[1] names the field 'n' a second time",
  ],
  [
    'a projection of both kinds',
    find,
    { projection: '{"n": 1, "name": 0}' },
    'projection',
    "includes 'n' and excludes 'name'",
  ],
  [
    'a stage that is not known',
    aggregate,
    { pipeline: ['{"$mtach": {}}'] },
    'pipeline',
    'pipeline[0].$mtach',
  ],
  [
    'a stage of two',
    aggregate,
    { pipeline: ['{"$match": {}, "$limit": 1}'] },
    'pipeline',
    'pipeline[0] has several stages',
  ],
  ['an empty stage', aggregate, { pipeline: ['{}'] }, 'pipeline', 'pipeline[0] is empty'],
  ['a stage that writes', aggregate, { pipeline: ['{"$out": "other"}'] }, 'pipeline', 'would write'],
  ['a limit in a pipeline of 0', aggregate, { pipeline: ['{"$limit": 0}'] }, 'pipeline', 'limit value must'],
];

const numbers: BadCall[] = [
  ...[0, -1, 10_001, 1e9, 1.5, '10'].flatMap((limit): BadCall[] => [
    [`a limit of ${JSON.stringify(limit)}`, find, { limit }, 'limit', 'limit'],
    [`a limit of ${JSON.stringify(limit)}`, aggregate, { pipeline: [], limit }, 'limit', 'limit'],
  ]),
  ...[-1, 1.5, 1e10].map((skip): BadCall => [`a skip of ${skip}`, find, { skip }, 'skip', 'skip']),
  ...[0, -1, 100_001, 1e9].map(
    (sample_size): BadCall => [
      `a sample of ${sample_size}`,
      schema,
      { sample_size },
      'sample_size',
      'sample_size',
    ],
  ),
  ...[0, -1, 1e9].map(
    (max_bytes): BadCall => [`a result of ${max_bytes} bytes`, find, { max_bytes }, 'max_bytes', 'max_bytes'],
  ),
];

const names: BadCall[] = [
  ...['', 'a\0b', 'a.b', 'a$b', 'a b', 'a/b', 'x'.repeat(64), 'admin', 'config', 'local'].flatMap(
    (database_name): BadCall[] => [
      [
        `the database ${JSON.stringify(database_name).slice(0, 20)}`,
        collections,
        { database_name },
        'database_name',
        'database_name',
      ],
      [
        `the database ${JSON.stringify(database_name).slice(0, 20)}`,
        find,
        { database_name },
        'database_name',
        'database_name',
      ],
    ],
  ),
  ...['', 'a\0b', '$cmd', 'a$b', 'system.users', 'x'.repeat(256)].map(
    (collection_name): BadCall => [
      `the collection ${JSON.stringify(collection_name).slice(0, 20)}`,
      count,
      { collection_name },
      'collection_name',
      'collection_name',
    ],
  ),
  ['no collection', find, { collection_name: undefined }, 'collection_name', 'is required'],
  ['no database', schema, { database_name: undefined }, 'database_name', 'is required'],
  ['a parameter that is not there', find, { query: '{}' }, 'query', 'no parameter'],
];

export const badCalls: BadCall[] = [...text, ...meaning, ...numbers, ...names];
