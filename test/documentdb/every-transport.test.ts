/** Every tool of the document database on each transport, in the order in which a model uses them. */
import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { mustAct } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';
import { type Outcome, type Parameters, type Transport, transports } from '../support/transports.ts';
import { adminConnectionString, useTestDatabase } from './server.ts';

const big = Long.fromString('9007199254740993');
const database = useTestDatabase({
  orders: [
    { _id: 1, region: 'EMEA', total: 10, customer: 'a' },
    { _id: 2, region: 'APAC', total: 20, customer: 'b', views: big },
    { _id: 3, region: 'EMEA', total: 5, customer: 'a' },
  ] as never[],
  customers: [
    { _id: 'a', name: 'Ada' },
    { _id: 'b', name: 'Grace' },
  ] as never[],
});
const orders = { database_name: database.name, collection_name: 'orders' };
const documentTools = tools.map(({ name }) => name).filter((name) => name.startsWith('DocumentDb.'));

let service: Service;
let sandbox: string;

beforeAll(async () => {
  service = await startService({ env: { DOCUMENTDB_CONNECTION_STRING: adminConnectionString } });
  const small = { name: 'analysis', cpu: 1, memory_gb: 1, disk_gb: 1 };
  sandbox = String((await must(service, 'CreateSandbox', small))['id']);
}, 120_000);

afterAll(() => service?.stop());

describe.each(Object.entries(transports))('over %s', (name, open) => {
  const used = new Set<string>();
  let transport: Transport;

  beforeAll(async () => {
    // The order of use is kept by key, so each transport begins anew.
    const { api_key: apiKey } = await mustAct(service, 'CreateKey', { name });
    transport = await open({ ...service, apiKey: String(apiKey) });
  });
  afterAll(() => transport?.close());

  function ask(tool: string, parameters: Parameters = {}): Promise<Outcome> {
    return transport.invoke(`DocumentDb.${tool}`, parameters);
  }

  async function ok(tool: string, parameters: Parameters = {}): Promise<Record<string, unknown>> {
    used.add(`DocumentDb.${tool}`);
    const { result, problem } = await ask(tool, parameters);
    if (problem) throw new Error(`${tool}: ${JSON.stringify(problem)}`);
    return result;
  }

  async function refused(tool: string, parameters: Parameters, problem: object): Promise<void> {
    expect((await ask(tool, parameters)).problem).toMatchObject(problem);
  }

  it('[DDB-TOOLS-01, DDB-ORDER-01, DDB-ORDER-02] [WIRE-DB-14, WIRE-DB-15, WIRE-DB-16] every tool works, in the order of use', async () => {
    // Each call of the command line starts a program: there one tool of each kind is refused.
    const queries = name === 'CLI' ? ['FindDocuments'] : ['FindDocuments', 'CountDocuments'];
    const before = { code: 'failed_precondition', hint: expect.stringContaining('DiscoverCollections') };
    for (const tool of ['GetCollectionSchema', ...queries]) await refused(tool, orders, before);
    if (name !== 'CLI') await refused('AggregateDocuments', { ...orders, pipeline: [] }, before);

    const { result: databases } = await ok('DiscoverDatabases');
    expect(databases).toContainEqual(expect.objectContaining({ name: database.name }));
    const { result: collections } = await ok('DiscoverCollections', { database_name: database.name });
    expect(collections).toMatchObject([{ name: 'customers' }, { name: 'orders', type: 'collection' }]);

    const unloaded = { code: 'failed_precondition', hint: expect.stringContaining('GetCollectionSchema') };
    for (const tool of queries) await refused(tool, orders, unloaded);
    expect(await ok('GetCollectionSchema', orders)).toMatchObject({ sampled: 3, document_count: 3 });
    await refused('AggregateDocuments', { ...orders, pipeline: [join] }, unloaded);
    await ok('GetCollectionSchema', { ...orders, collection_name: 'customers' });

    expect(
      await ok('FindDocuments', {
        ...orders,
        filter_dict: '{"total": {"$gte": 10}}',
        projection: '{"region": 1, "views": 1}',
        sort: ['{"field": "_id", "direction": -1}'],
        limit: 1,
      }),
    ).toMatchObject({
      result: ['{"_id":2,"region":"APAC","views":{"$numberLong":"9007199254740993"}}'],
      returned: 1,
      has_more: true,
    });
    expect(await ok('CountDocuments', { ...orders, filter_dict: '{"region": "EMEA"}' })).toMatchObject({
      result: 2,
    });
    const { result: joined } = await ok('AggregateDocuments', { ...orders, pipeline: [join, order] });
    expect((joined as string[]).map((text) => JSON.parse(text).who[0].name)).toEqual(['Ada', 'Grace', 'Ada']);
    expect([...used].sort()).toEqual([...documentTools].sort());
  });

  it('results go straight into a sandbox', async () => {
    // A save replaces no file, and another transport's is there.
    const folder = name.replaceAll(' ', '-');
    const paths = { found: `${folder}/orders.jsonl`, sums: `${folder}/sums.jsonl` };
    const target = { save_to_sandbox: 'analysis', save_to_path: paths.found };
    const saved = {
      sandbox: 'analysis',
      path: paths.found,
      count: 3,
      size_bytes: 62,
      fields: ['_id', 'total'],
    };
    expect(await ok('FindDocuments', { ...orders, projection: '{"total": 1}', ...target })).toMatchObject({
      result: [],
      saved,
    });
    expect(await must(service, 'ReadFile', { sandbox, path: paths.found })).toMatchObject({
      content: '{"_id":1,"total":10}\n{"_id":2,"total":20}\n{"_id":3,"total":5}\n',
    });
    const totals = '{"$group": {"_id": "$region", "sum": {"$sum": "$total"}}}';
    const sums = { ...target, save_to_path: paths.sums };
    await ok('AggregateDocuments', { ...orders, pipeline: [totals, order], ...sums });
    expect(await must(service, 'ReadFile', { sandbox, path: paths.sums })).toMatchObject({
      content: '{"_id":"APAC","sum":20}\n{"_id":"EMEA","sum":15}\n',
    });
  });

  it('[WIRE-DB-12] errors are the same object', async () => {
    const pipeline = ['{"$match": {}}', '{"$out": "copy"}'];
    await refused(
      'AggregateDocuments',
      { ...orders, pipeline },
      { code: 'invalid_argument', parameter: 'pipeline' },
    );
    await refused('FindDocuments', { ...orders, limit: 0 }, { code: 'invalid_argument', parameter: 'limit' });
  });
});

it('the service finds that its credentials could write', async () => {
  const { doctor } = await mustAct(service, 'GetHealth');
  const found = 'connected; the credentials could write';
  expect(doctor).toMatchObject({
    findings: expect.arrayContaining([expect.objectContaining({ name: 'documents', status: 'warn', found })]),
  });
});

const join =
  '{"$lookup": {"from": "customers", "localField": "customer", "foreignField": "_id", "as": "who"}}';
const order = '{"$sort": {"_id": 1}}';
