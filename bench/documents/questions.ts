/** Poses the same question to every side: a call of our tools, one of theirs, and the bare read with the driver. */
import { EJSON } from 'bson';
import type { Collection } from 'mongodb';
import { type Figures, timed } from '../base/interleave.ts';
import type { MetricId } from '../base/metrics.ts';
import type { Answer, Contender } from './contender.ts';
import { COLLECTION, DATABASE } from './demo-database.ts';
import { wholeAnswer } from './mongodb-mcp-server.ts';

export interface Call {
  tool: string;
  parameters: Record<string, unknown>;
}

export interface Question {
  time: MetricId;
  /** Remainder after the bare read. */
  beyond?: MetricId;
  size?: MetricId;
  ours: Call;
  theirs: Call | null;
  /** Resolves with the number of documents, or with the counted number. */
  bare(collection: Collection): Promise<number>;
  /** Extracts that number from an answer of ours or theirs. */
  amount(result: Answer['result']): number;
}

export const ourCollection = { database_name: DATABASE, collection_name: COLLECTION };
export const theirCollection = { database: DATABASE, collection: COLLECTION };

/** Subject of the questions: found once, the same for all sides. */
export interface Subject {
  /** One month has a few thousand. */
  month: { created_at: { $gte: Date; $lt: Date } };
  /** Exactly `MANY` documents, so that every side counts and reads the same number. */
  many: { _id: { $gte: unknown; $lt: unknown } };
}

const MANY = 1_000;
const FEW = 10;

export async function subjectOf(collection: Collection): Promise<Subject> {
  const [newest] = await collection.find({}, { sort: { created_at: -1 }, limit: 1 }).toArray();
  const date = newest?.['created_at'];
  if (!(date instanceof Date)) throw new Error('the newest order has no date');
  const month = (offset: number) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset));
  const ids = await collection
    .find({}, { sort: { _id: 1 }, limit: MANY + 1, projection: { _id: 1 } })
    .toArray();
  return {
    month: { created_at: { $gte: month(-1), $lt: month(0) } },
    many: { _id: { $gte: ids[0]?._id, $lt: ids[MANY]?._id } },
  };
}

export function questionsAbout({ month, many }: Subject): Question[] {
  const pipeline = [{ $match: month }, { $group: { _id: '$region', orders: { $sum: 1 } } }];
  return [
    {
      ...found(many, { _id: 1 }, MANY),
      time: 'findMany',
      beyond: 'findManyBeyond',
      size: 'findManySize',
    },
    { ...found(month, { created_at: 1, _id: 1 }, FEW), time: 'findFew', size: 'findFewSize' },
    {
      time: 'countDocuments',
      ours: { tool: 'DocumentDb_CountDocuments', parameters: { ...ourCollection, filter_dict: text(month) } },
      theirs: { tool: 'count', parameters: { ...theirCollection, query: plain(month) } },
      bare: (collection) => collection.countDocuments(month),
      amount: ({ result, count }) => Number(result ?? count),
    },
    {
      time: 'aggregateDocuments',
      ours: {
        tool: 'DocumentDb_AggregateDocuments',
        parameters: { ...ourCollection, pipeline: pipeline.map(text) },
      },
      theirs: { tool: 'aggregate', parameters: { ...theirCollection, pipeline: pipeline.map(plain) } },
      bare: async (collection) => (await collection.aggregate(pipeline, { raw: true }).toArray()).length,
      amount: documentsIn,
    },
  ];
}

/** Runs one turn of ours or theirs. The bare read just before runs under the same conditions. */
export async function ask(
  contender: Contender,
  question: Question,
  side: 'ours' | 'theirs',
  collection: Collection,
): Promise<Figures> {
  const call = question[side];
  if (!call) return {};
  let wanted = 0;
  const bareMs = await timed(async () => {
    wanted = await question.bare(collection);
  });
  let answer: Answer = { result: {}, bytes: () => 0 };
  const ms = await timed(async () => {
    answer = await contender.ask(call.tool, call.parameters);
  });
  const amount = question.amount(answer.result);
  if (amount !== wanted)
    throw new Error(`${call.tool}: ${amount} came, and ${wanted} to the driver (${question.time})`);
  const { time, beyond, size } = question;
  return {
    [time]: ms,
    ...(beyond ? { [beyond]: ms - bareMs } : {}),
    ...(size ? { [size]: answer.bytes() / 1e3 } : {}),
  };
}

function found(
  match: Record<string, Record<string, unknown>>,
  sort: Record<string, 1 | -1>,
  limit: number,
): Omit<Question, 'time'> {
  const sortTexts = Object.entries(sort).map(([field, direction]) => JSON.stringify({ field, direction }));
  return {
    ours: {
      tool: 'DocumentDb_FindDocuments',
      parameters: {
        ...ourCollection,
        filter_dict: text(match),
        sort: sortTexts,
        limit,
        max_bytes: 16 * 2 ** 20,
      },
    },
    theirs: {
      tool: 'find',
      parameters: { ...theirCollection, filter: plain(match), sort, limit, ...wholeAnswer },
    },
    async bare(collection) {
      const cursor = collection.find(match, { raw: true, sort, limit, batchSize: limit });
      return (await cursor.toArray()).length;
    },
    amount: documentsIn,
  };
}

function documentsIn({ result, documents }: Answer['result']): number {
  return ((result ?? documents) as unknown[]).length;
}

function text(value: unknown): string {
  return EJSON.stringify(value, { relaxed: true });
}

function plain(value: unknown): unknown {
  return JSON.parse(text(value));
}
