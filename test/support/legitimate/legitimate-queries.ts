/**
 * Queries that only read, and must pass: what people and models write, over every place that an operator can stand.
 * `lacking` marks what the documentdb extension (1.0) refuses although MongoDB has it.
 */
import { Decimal128, Long, ObjectId } from '../../../src/documentdb/bson/library.ts';

interface Marks {
  /** What the documentdb extension says it does not have. */
  lacking?: string;
}

export interface LegitimateFilter extends Marks {
  filter: Record<string, unknown>;
  /** It sorts by itself or needs an index, so that it only stands in a find. */
  findOnly?: true;
}

export interface LegitimateProjection extends Marks {
  projection: Record<string, unknown>;
  filter?: Record<string, unknown>;
}

export interface LegitimatePipeline extends Marks {
  pipeline: Record<string, unknown>[];
  /** Besides `orders`, which it runs on. */
  sources?: string[];
}

/** Collections, and what they hold, that make the queries mean something. */
export const legitimateData: Record<string, Record<string, unknown>[]> = {
  orders: [1, 2, 3, 4].map((n) => ({
    _id: new ObjectId(String(n).padStart(24, '0')),
    number: n,
    status: n % 2 === 0 ? 'paid' : 'open',
    note: n === 1 ? '$where' : 'Call first',
    amount: n * 10.5,
    flags: n,
    customer: `c${n % 2}`,
    day: new Date(Date.UTC(2024, n, n)),
    address: { city: n === 1 ? 'Oslo' : 'Bergen', place: { type: 'Point', coordinates: [n, n] } },
    lines: [
      { sku: 'a', quantity: n, price: 2 },
      { sku: 'b', quantity: 1, price: n },
    ],
    tags: ['x', `t${n}`],
    extra: { a: { $where: 1 } },
  })),
  customers: [0, 1].map((n) => ({ _id: `c${n}`, name: `Customer ${n}`, boss: n === 1 ? 'c0' : null })),
  archive: [{ _id: 1, status: 'paid', amount: 5 }],
};

/** Indexes that some of the filters need, on `orders`. */
export const legitimateIndexes: Record<string, number | string>[] = [
  { note: 'text' },
  { 'address.place': '2dsphere' },
];

const oslo = { type: 'Point', coordinates: [1, 1] };
const area = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [0, 9],
      [9, 9],
      [9, 0],
      [0, 0],
    ],
  ],
};

export const legitimateFilters: LegitimateFilter[] = [
  ...[
    {},
    { status: 'paid' },
    { _id: new ObjectId('000000000000000000000001') },
    { number: new Long(1) },
    { amount: { $gte: 10, $lt: Decimal128.fromString('30.5') } },
    { number: { $in: [1, 2, 3] }, status: { $nin: ['gone'] } },
    { status: { $in: [/^pa/, 'open'] } },
    { status: /^P/i },
    { status: { $regex: '^p', $options: 'i' } },
    { status: { $not: /^p/ } },
    { status: { $not: { $regex: '^p' } } },
    { amount: { $not: { $gt: 20 } } },
    { $and: [{ status: 'paid' }, { $or: [{ number: 2 }, { number: 4 }] }] },
    { $nor: [{ status: 'gone' }, { amount: { $lt: 0 } }] },
    { lines: { $elemMatch: { sku: 'a', quantity: { $gt: 1 } } } },
    { lines: { $elemMatch: { $or: [{ sku: 'a' }, { price: { $gt: 3 } }] } } },
    { lines: { $not: { $elemMatch: { price: { $gt: 100 } } } } },
    { tags: { $elemMatch: { $gte: 't1', $lt: 't3' } } },
    { tags: { $all: ['x', 't1'] } },
    { lines: { $all: [{ $elemMatch: { sku: 'a' } }, { $elemMatch: { sku: 'b' } }] } },
    { tags: { $size: 2 } },
    { tags: ['x', 't1'] },
    { 'lines.0.sku': 'a' },
    { gone: { $exists: false } },
    { gone: null },
    { amount: { $type: 'number' }, _id: { $type: ['objectId', 'string'] } },
    { number: { $mod: [2, 0] } },
    { flags: { $bitsAllSet: 1 } },
    { flags: { $bitsAnyClear: [0, 1], $bitsAllClear: 64 } },
    { day: { $gte: new Date('2024-02-01T00:00:00Z') } },
    { $expr: { $gt: ['$amount', { $multiply: ['$number', 10] }] } },
    { $expr: { $eq: [{ $year: '$day' }, 2024] } },
    { $expr: { $eq: ['$note', { $literal: '$where' }] } },
    { $comment: 'orders of a month', status: 'paid' },
    { note: '$where' },
    { note: { $eq: '$out' } },
    { extra: { a: { $where: 1 } } },
    { extra: { $eq: { a: { $where: 1 } } } },
    { extra: { $in: [{ a: { $where: 1 } }] } },
    { 'extra.a': { $eq: { $where: 1 } } },
    { 'extra.a': { $ne: { $function: { body: 'x' } } } },
    { extra: { $gt: { $out: 1 } } },
    { customer: { $ref: 'customers', $id: 'c1' } },
    { 'customer.$id': 'c1' },
    { 'address.place': { $geoWithin: { $geometry: area } } },
    { 'address.place': { $geoWithin: { $centerSphere: [[1, 1], 0.1] } } },
    { 'address.place': { $geoIntersects: { $geometry: area } } },
    { $jsonSchema: { required: ['status'], properties: { status: { bsonType: 'string', pattern: '^p' } } } },
    { $jsonSchema: { properties: { status: { enum: ['paid', 'open'] } } } },
    { constructor: 'x' },
    { toString: { $exists: false } },
    { '': { $exists: false } },
  ].map((filter) => ({ filter })),
  { filter: { $text: { $search: 'call', $caseSensitive: false } }, findOnly: true },
  {
    filter: { 'address.place': { $near: { $geometry: oslo, $maxDistance: 1_000_000 } } },
    findOnly: true,
  },
  { filter: { 'address.place': { $nearSphere: { $geometry: oslo, $minDistance: 1 } } }, findOnly: true },
  { filter: { $sampleRate: 0.5 } },
  {
    filter: { $jsonSchema: { anyOf: [{ properties: { amount: { minimum: 20 } } }, { required: ['note'] }] } },
    lacking: 'anyOf in $jsonSchema',
  },
];

export const legitimateProjections: LegitimateProjection[] = [
  ...[
    { status: 1, amount: 1 },
    { _id: 0, lines: 0 },
    { 'address.city': true },
    { address: { city: 1 } },
    { lines: { $slice: 1 } },
    { lines: { $slice: [1, 1] } },
    { lines: { $elemMatch: { sku: 'a' } } },
    { lines: { $elemMatch: { quantity: { $gt: 1 }, sku: { $in: ['a'] } } } },
    { total: { $sum: '$lines.price' } },
    { year: { $year: '$day' }, status: 1 },
    { label: { $literal: '$where' } },
    { upper: { $toUpper: '$status' } },
    { big: { $cond: [{ $gt: ['$amount', 20] }, 'yes', 'no'] } },
    { first: { $first: '$lines' } },
    { skus: { $map: { input: '$lines', as: 'line', in: '$$line.sku' } } },
    { copy: '$status' },
  ].map((projection) => ({ projection })),
  { projection: { 'lines.$': 1 }, filter: { 'lines.sku': 'b' } },
  { projection: { score: { $meta: 'textScore' } }, filter: { $text: { $search: 'call' } } },
];
