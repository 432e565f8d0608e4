/** The stages of pipelines, and what each takes. Its options are a closed set, so that a new one is no way around. */

/** What a stage is given, or what stands behind the name of an option. */
export type StageSlot =
  /** Never looked into. */
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
  /** The name of another collection of the same database. */
  | 'source'
  /** Expressions that the pipeline beside them knows as variables. */
  | 'variables'
  | 'pipeline'
  /** A pipeline for each name. */
  | 'facets'
  | 'pipelines'
  | 'redact'
  /** What a search index is asked: no operators but in a `filter`. */
  | 'search'
  | Options;

export interface Options {
  readonly [name: string]: StageSlot;
}

export interface Stage {
  takes: StageSlot;
  /** What it takes where that is no object. */
  or?: 'text' | 'source';
  /** It can only be a pipeline's first. */
  first?: true;
  /** It cannot stand in `$facet`. */
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
