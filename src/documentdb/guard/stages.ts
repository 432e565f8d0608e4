/**
 * Lists the stages of pipelines, with their options. The options are a closed set, so that a new one cannot bypass
 * the guard.
 */

/** Kind of a stage's argument, or of an option's value. */
export type StageSlot =
  /** Never walked. */
  | 'literal'
  | 'text'
  | 'texts'
  | 'number'
  | 'expression'
  /** An expression for each field. */
  | 'expressions'
  | 'filter'
  | 'order'
  /** `_id`, and an accumulator for each other field. */
  | 'group'
  | 'accumulators'
  | 'windows'
  | 'fills'
  /** Name of another collection of the same database. */
  | 'source'
  /** Expressions that the pipeline beside them sees as variables. */
  | 'variables'
  | 'pipeline'
  /** A pipeline for each name. */
  | 'facets'
  | 'pipelines'
  | 'redact'
  /** Search query: no operators except in a `filter`. */
  | 'search'
  | Options;

export interface Options {
  readonly [name: string]: StageSlot;
}

export interface Stage {
  takes: StageSlot;
  /** Kind of a value that is no object. */
  or?: 'text' | 'source';
  /** Only valid as a pipeline's first. */
  first?: true;
  /** Invalid in `$facet`. */
  whole?: true;
}

const searches = { first: true, whole: true } as const;

export const stages: ReadonlyMap<string, Stage> = new Map<string, Stage>([
  ['$addFields', { takes: 'expressions' }],
  [
    '$bucket',
    {
      takes: {
        groupBy: 'expression',
        boundaries: 'expression',
        default: 'expression',
        output: 'accumulators',
      },
    },
  ],
  [
    '$bucketAuto',
    { takes: { groupBy: 'expression', buckets: 'number', output: 'accumulators', granularity: 'text' } },
  ],
  ['$count', { takes: 'text' }],
  [
    '$densify',
    {
      takes: {
        field: 'text',
        partitionByFields: 'texts',
        range: { step: 'number', unit: 'text', bounds: 'literal' },
      },
    },
  ],
  ['$documents', { takes: 'expression', first: true, whole: true }],
  ['$facet', { takes: 'facets', whole: true }],
  [
    '$fill',
    {
      takes: { partitionBy: 'expression', partitionByFields: 'texts', sortBy: 'order', output: 'fills' },
    },
  ],
  ['$geoNear', { takes: geoNear(), first: true, whole: true }],
  [
    '$graphLookup',
    {
      takes: {
        from: 'source',
        startWith: 'expression',
        connectFromField: 'text',
        connectToField: 'text',
        as: 'text',
        maxDepth: 'number',
        depthField: 'text',
        restrictSearchWithMatch: 'filter',
      },
    },
  ],
  ['$group', { takes: 'group' }],
  ['$limit', { takes: 'number' }],
  [
    '$lookup',
    {
      takes: {
        from: 'source',
        localField: 'text',
        foreignField: 'text',
        let: 'variables',
        pipeline: 'pipeline',
        as: 'text',
      },
    },
  ],
  ['$match', { takes: 'filter' }],
  ['$project', { takes: 'expressions' }],
  [
    '$rankFusion',
    {
      takes: {
        input: { pipelines: 'pipelines' },
        combination: { weights: 'literal' },
        scoreDetails: 'literal',
      },
      ...searches,
    },
  ],
  ['$redact', { takes: 'redact' }],
  ['$replaceRoot', { takes: { newRoot: 'expression' } }],
  ['$replaceWith', { takes: 'expression' }],
  ['$sample', { takes: { size: 'number' } }],
  ['$search', { takes: 'search', ...searches }],
  ['$searchMeta', { takes: 'search', ...searches }],
  ['$set', { takes: 'expressions' }],
  ['$setWindowFields', { takes: { partitionBy: 'expression', sortBy: 'order', output: 'windows' } }],
  ['$skip', { takes: 'number' }],
  ['$sort', { takes: 'order' }],
  ['$sortByCount', { takes: 'expression' }],
  ['$unionWith', { takes: { coll: 'source', pipeline: 'pipeline' }, or: 'source' }],
  ['$unset', { takes: 'texts' }],
  [
    '$unwind',
    {
      takes: { path: 'text', includeArrayIndex: 'text', preserveNullAndEmptyArrays: 'literal' },
      or: 'text',
    },
  ],
  ['$vectorSearch', { takes: 'search', ...searches }],
]);

function geoNear(): Options {
  return {
    near: 'expression',
    distanceField: 'text',
    spherical: 'literal',
    maxDistance: 'expression',
    minDistance: 'expression',
    distanceMultiplier: 'expression',
    query: 'filter',
    includeLocs: 'text',
    key: 'text',
  };
}
