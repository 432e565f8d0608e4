/** Documents of every type, from the driver into the server and out of it by the service: the same documents. */
import { deserialize, EJSON } from 'bson';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { exactDocuments } from '../../documentdb-unit/bson/generated.ts';
import { adminConnectionString, useTestDatabase } from '../server.ts';
import { useService } from '../service.ts';

const asItIs = { promoteValues: false, bsonRegExp: true } as const;
const FIRST_RUN = -1;
const kinds = [
  'Binary',
  'BSONRegExp',
  'BSONSymbol',
  'Code',
  'Decimal128',
  'Double',
  'Int32',
  'Long',
  'MaxKey',
  'MinKey',
  'ObjectId',
  'Timestamp',
  'Date',
  'Array',
  'string',
  'boolean',
  'null',
  'Object',
];

const database = useTestDatabase({ every: [{ run: FIRST_RUN }] });
const every = { database_name: database.name, collection_name: 'every' };
const documents = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: adminConnectionString }));

beforeAll(() => documents.explore(database.name, ['every']));

it('[DDB-TOOLS-03, WIRE-DB-07] FindDocuments returns the documents that the driver inserted', async () => {
  let run = 0;
  const some = fc.array(exactDocuments, { minLength: 1, maxLength: 25 });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(some, async (bsons) => {
      run++;
      const inserted = bsons.map((bson, index) => ({
        _id: run * 1_000 + index,
        run,
        value: deserialize(bson, asItIs),
      }));
      for (const { value } of inserted) for (const content of Object.values(value)) seen.add(kindOf(content));
      await database.client
        .db(database.name)
        .collection('every')
        .insertMany(inserted as never[]);
      const { result } = await documents.ok('FindDocuments', {
        ...every,
        filter_dict: `{"run": ${run}}`,
        sort: ['{"field": "_id", "direction": 1}'],
      });
      const found = (result as string[]).map((text) => JSON.parse(text) as unknown);
      expect(found).toEqual(inserted.map(relaxed));
    }),
    { numRuns: 60 },
  );
  for (const kind of kinds) expect(seen).toContain(kind);
}, 120_000);

/** The driver's canonical form, with what the relaxed one writes plainly, and no integer rounded. */
function relaxed(document: object): unknown {
  return JSON.parse(EJSON.stringify(document, { relaxed: false }), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const [[name, content] = [], more] = Object.entries(value);
    if (more !== undefined || name === undefined) return value;
    if (name === '$numberInt') return Number(content);
    if (name === '$numberDouble') return Number.isFinite(Number(content)) ? Number(content) : value;
    if (name === '$numberLong') return isExact(BigInt(content as string)) ? Number(content) : value;
    return name === '$date' ? date(content) : value;
  });
}

/** With a fraction only where there is one; years that RFC 3339 has no way to write stay numbers. */
function date(milliseconds: unknown): unknown {
  if (typeof milliseconds !== 'number') return { $date: milliseconds };
  const iso = new Date(milliseconds).toISOString();
  const isPlain = milliseconds >= 0 && iso.length === '2024-02-29T12:00:00.000Z'.length;
  return { $date: isPlain ? iso.replace('.000Z', 'Z') : { $numberLong: String(milliseconds) } };
}

/** As a number of JSON. */
function isExact(value: bigint): boolean {
  return value >= -(2n ** 53n) && value <= 2n ** 53n;
}

/** By nothing that a key of the document could stand for. */
function kindOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  if (isDocument(value)) return 'Object';
  const type: unknown = Reflect.get(value, '_bsontype');
  return typeof type === 'string' ? type : Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function isDocument(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}
