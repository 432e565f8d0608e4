/** Pipelines that only read, over `orders`; the collections and marks are those of the queries beside. */
import { legitimateExpressions } from './legitimate-expressions.ts';
import type { LegitimatePipeline } from './legitimate-queries.ts';

const paid = { $match: { status: 'paid' } };
const byDay = { $sort: { day: 1 } };

export const legitimatePipelines: LegitimatePipeline[] = [
  ...[
    [],
    [paid, { $sort: { amount: -1, _id: 1 } }, { $skip: 0 }, { $limit: 5 }],
    [{ $project: { status: 1, 'address.city': 1, _id: 0 } }],
    [{ $project: { lines: 0, extra: false } }],
    [{ $project: { address: { city: 1 }, total: { $sum: '$lines.price' } } }],
    [{ $addFields: { total: { $sum: '$lines.price' }, 'address.country': 'NO' } }],
    [{ $set: { lines: { $slice: ['$lines', 1] } } }, { $unset: ['extra', 'address.place'] }],
    [{ $unset: 'extra' }],
    [{ $unwind: '$lines' }, { $count: 'lines' }],
    [{ $unwind: { path: '$lines', includeArrayIndex: 'at', preserveNullAndEmptyArrays: true } }],
    [{ $group: { _id: null, n: { $sum: 1 }, all: { $push: '$$ROOT' } } }],
    [{ $group: { _id: { y: { $year: '$day' }, s: '$status' }, top: { $max: '$amount' } } }],
    [{ $group: { _id: '$status', tags: { $addToSet: '$customer' }, low: { $min: '$amount' } } }],
    [byDay, { $group: { _id: '$status', first: { $first: '$day' }, last: { $last: '$day' } } }],
    [{ $group: { _id: '$status', n: { $count: {} }, mean: { $avg: '$amount' } } }],
    [{ $group: { _id: 1, t: { $top: { sortBy: { amount: -1 }, output: ['$amount', '$status'] } } } }],
    [{ $group: { _id: 1, t: { $bottomN: { sortBy: { amount: 1 }, output: '$amount', n: 2 } } } }],
    [{ $group: { _id: 1, t: { $firstN: { input: '$amount', n: 2 } } } }],
    [{ $group: { _id: 1, t: { $mergeObjects: '$address' }, s: { $stdDevSamp: '$amount' } } }],
    [{ $group: { _id: 1, t: { $median: { input: '$amount', method: 'approximate' } } } }],
    [{ $group: { _id: 1, t: { $push: { $cond: [{ $gt: ['$amount', 20] }, '$amount', '$$REMOVE'] } } } }],
    [{ $sortByCount: '$status' }],
    [{ $sortByCount: { $toUpper: '$status' } }],
    [{ $bucket: { groupBy: '$amount', boundaries: [0, 20, 50], default: 'other' } }],
    [{ $bucket: { groupBy: '$amount', boundaries: [0, 99], output: { n: { $sum: 1 } } } }],
    [{ $bucketAuto: { groupBy: '$amount', buckets: 2, output: { all: { $push: '$amount' } } } }],
    [{ $facet: { n: [{ $count: 'n' }], top: [{ $sort: { amount: -1 } }, { $limit: 1 }] } }],
    [{ $replaceRoot: { newRoot: { $mergeObjects: ['$address', { n: '$number' }] } } }],
    [{ $replaceWith: '$address' }],
    [{ $sample: { size: 2 } }],
    [{ $redact: { $cond: [{ $eq: ['$status', 'gone'] }, '$$PRUNE', '$$DESCEND'] } }],
    [{ $match: { $expr: { $gt: ['$amount', '$number'] } } }],
    [{ $match: { extra: { a: { $where: 1 } } } }],
    [{ $project: { text: { $literal: { $out: 'x' } } } }],
    [{ $match: { 'address.city': { $in: ['Oslo'] } } }, { $match: { $or: [paid.$match] } }],
    [{ $setWindowFields: { sortBy: { day: 1 }, output: { rank: { $documentNumber: {} } } } }],
    [
      {
        $setWindowFields: {
          partitionBy: '$status',
          sortBy: { day: 1 },
          output: { sum: { $sum: '$amount', window: { documents: ['unbounded', 'current'] } } },
        },
      },
    ],
    [
      {
        $setWindowFields: {
          sortBy: { day: 1 },
          output: {
            mean: { $avg: '$amount', window: { range: [-1, 0], unit: 'month' } },
            before: { $shift: { output: '$amount', by: -1, default: null } },
            smooth: { $expMovingAvg: { input: '$amount', N: 2 } },
            locf: { $locf: '$gone' },
          },
        },
      },
    ],
    [
      {
        $setWindowFields: {
          sortBy: { day: 1 },
          output: {
            speed: { $derivative: { input: '$amount', unit: 'day' }, window: { documents: [-1, 0] } },
            area: { $integral: { input: '$amount', unit: 'hour' }, window: { documents: [-1, 0] } },
            both: { $covariancePop: ['$amount', '$number'], window: { documents: [-1, 1] } },
            line: { $linearFill: '$amount' },
          },
        },
      },
    ],
    [{ $setWindowFields: { sortBy: { amount: 1 }, output: { r: { $rank: {} }, d: { $denseRank: {} } } } }],
    [{ $densify: { field: 'number', range: { step: 1, bounds: [1, 6] } } }],
    [{ $densify: { field: 'day', range: { step: 1, unit: 'month', bounds: 'full' } } }],
    [{ $fill: { sortBy: { day: 1 }, output: { amount: { method: 'linear' }, gone: { value: 0 } } } }],
    [{ $fill: { partitionBy: { s: '$status' }, sortBy: { day: 1 }, output: { gone: { method: 'locf' } } } }],
    [
      {
        $geoNear: {
          near: { type: 'Point', coordinates: [1, 1] },
          distanceField: 'far',
          query: { status: 'paid' },
        },
      },
    ],
    [{ $match: { $text: { $search: 'call' } } }, { $sort: { score: { $meta: 'textScore' } } }],
  ].map((pipeline): LegitimatePipeline => ({ pipeline })),
  {
    pipeline: [{ $lookup: { from: 'customers', localField: 'customer', foreignField: '_id', as: 'c' } }],
    sources: ['customers'],
  },
  {
    pipeline: [
      {
        $lookup: {
          from: 'customers',
          as: 'c',
          // The variables are known whatever the order of the options.
          pipeline: [
            { $match: { $expr: { $eq: ['$_id', '$$id'] } } },
            { $project: { name: 1, s: '$$status' } },
          ],
          let: { id: '$customer', status: { $toUpper: '$status' } },
        },
      },
    ],
    sources: ['customers'],
  },
  {
    pipeline: [
      {
        $lookup: {
          from: 'customers',
          localField: 'customer',
          foreignField: '_id',
          pipeline: [
            { $lookup: { from: 'archive', pipeline: [{ $limit: 1 }], as: 'old' } },
            { $unionWith: 'orders' },
          ],
          as: 'c',
        },
      },
    ],
    sources: ['customers', 'archive'],
  },
  {
    pipeline: [
      {
        $graphLookup: {
          from: 'customers',
          startWith: '$customer',
          connectFromField: 'boss',
          connectToField: '_id',
          as: 'bosses',
          maxDepth: 3,
          depthField: 'level',
          restrictSearchWithMatch: { name: { $ne: 'nobody' } },
        },
      },
    ],
    sources: ['customers'],
  },
  { pipeline: [{ $unionWith: 'archive' }], sources: ['archive'] },
  {
    pipeline: [
      { $unionWith: { coll: 'archive', pipeline: [{ $match: { amount: { $gt: 1 } } }] } },
      { $count: 'n' },
    ],
    sources: ['archive'],
  },
  {
    pipeline: [{ $facet: { a: [{ $unionWith: 'archive' }], b: [paid, { $sortByCount: '$customer' }] } }],
    sources: ['archive'],
  },
  { pipeline: [{ $lookup: { pipeline: [{ $documents: [{ a: 1 }] }], as: 'd' } }] },
  { pipeline: [{ $unionWith: { pipeline: [{ $documents: [{ status: 'new' }] }] } }] },
  {
    pipeline: [
      {
        $vectorSearch: {
          index: 'v',
          path: 'p',
          queryVector: [1],
          numCandidates: 9,
          limit: 3,
          filter: { status: 'paid' },
        },
      },
    ],
    lacking: 'a search index',
  },
  {
    pipeline: [
      { $search: { index: 'default', compound: { filter: [{ text: { query: 'a', path: 'note' } }] } } },
    ],
    lacking: 'a search index',
  },
  {
    pipeline: [{ $searchMeta: { facet: { operator: { exists: { path: 'note' } }, facets: {} } } }],
    lacking: 'a search index',
  },
  {
    pipeline: [
      {
        $rankFusion: {
          input: { pipelines: { a: [{ $sort: { amount: 1 } }] } },
          combination: { weights: { a: 1 } },
        },
      },
    ],
    lacking: '$rankFusion',
  },
  ...legitimateExpressions.map(
    ([expression, lacking]): LegitimatePipeline => ({
      pipeline: [{ $project: { value: expression } }],
      ...(lacking === undefined ? {} : { lacking }),
    }),
  ),
];
