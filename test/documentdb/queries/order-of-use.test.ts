/** How long, and for whom, the order of use is kept; what an operator may make of it. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { mustAct } from '../../support/people.ts';
import { call, type Service, startService } from '../../support/service.ts';
import { adminConnectionString, useTestDatabase } from '../server.ts';

const database = useTestDatabase({ orders: [{ _id: 1 }] as never[], customers: [{ _id: 2 }] as never[] });
const orders = { database_name: database.name, collection_name: 'orders' };
const environment = { DOCUMENTDB_CONNECTION_STRING: adminConnectionString };

let service: Service;
let others: Pick<Service, 'url' | 'apiKey'>;

beforeAll(async () => {
  service = await startService({ env: environment });
  const { api_key: apiKey } = await mustAct(service, 'CreateKey', { name: 'another key of the same user' });
  others = { url: service.url, apiKey: String(apiKey) };
}, 120_000);

afterAll(() => service?.stop());

const find = async (by: Pick<Service, 'url' | 'apiKey'>) =>
  (await call(by, 'DocumentDb.FindDocuments', orders)).body;
const undiscovered = {
  code: 'failed_precondition',
  status: 412,
  hint: `Call DocumentDb.DiscoverCollections with {"database_name":"${database.name}"} first.`,
};

async function explore(by: Pick<Service, 'url' | 'apiKey'>): Promise<void> {
  await call(by, 'DocumentDb.DiscoverCollections', { database_name: database.name });
  const { body } = await call(by, 'DocumentDb.GetCollectionSchema', orders);
  expect(body).toMatchObject({ sampled: 1 });
}

describe('[WIRE-DB-14, WIRE-DB-15] the order of use', () => {
  it('is kept for each key, until the service restarts', async () => {
    expect(await find(service)).toMatchObject(undiscovered);
    await explore(service);
    expect(await find(service)).toMatchObject({ result: ['{"_id":1}'] });
    expect(await find(others)).toMatchObject(undiscovered);
    await explore(others);
    expect(await find(others)).toMatchObject({ result: ['{"_id":1}'] });

    await service.restart();
    expect(await find(service)).toMatchObject(undiscovered);
    expect(await find({ url: service.url, apiKey: others.apiKey })).toMatchObject(undiscovered);
  });

  it('comes after what is wrong with the call itself', async () => {
    const wrong = { ...orders, collection_name: 'none', limit: 0 };
    const { body } = await call(service, 'DocumentDb.FindDocuments', wrong);
    expect(body).toMatchObject({ code: 'invalid_argument', parameter: 'limit' });
  });
});

describe('DOCUMENTDB_ORDER_OF_USE', () => {
  it('[WIRE-DB-17] advise: results come, with what was left out in their notes', async () => {
    const advised = await startService({ env: { ...environment, DOCUMENTDB_ORDER_OF_USE: 'advise' } });
    onTestFinished(() => advised.stop());
    const ask = async (tool: string, parameters = {}) =>
      (await call(advised, `DocumentDb.${tool}`, { ...orders, ...parameters })).body;
    const discover = expect.stringContaining('Call DocumentDb.DiscoverCollections');
    expect(await ask('FindDocuments')).toMatchObject({ result: ['{"_id":1}'], notes: [discover] });
    expect(await ask('CountDocuments')).toMatchObject({ result: 1, notes: [discover] });
    expect(await ask('GetCollectionSchema')).toMatchObject({ sampled: 1, notes: [discover] });
    await call(advised, 'DocumentDb.DiscoverCollections', { database_name: database.name });
    const join =
      '{"$lookup": {"from": "customers", "localField": "_id", "foreignField": "_id", "as": "who"}}';
    const load = expect.stringMatching(/Call DocumentDb.GetCollectionSchema .*"customers"/);
    expect(await ask('AggregateDocuments', { pipeline: [join] })).toMatchObject({
      result: ['{"_id":1,"who":[]}'],
      notes: expect.arrayContaining([load]),
    });
    const loaded = await ask('FindDocuments', { sort: ['{"field": "_id", "direction": 1}'] });
    expect(loaded).not.toHaveProperty('notes');
  }, 60_000);

  it('of another value: the service does not start, and names the variable', async () => {
    const started = startService({ env: { ...environment, DOCUMENTDB_ORDER_OF_USE: 'never' } });
    await expect(started).rejects.toThrow(/DOCUMENTDB_ORDER_OF_USE must be enforce or advise, and 'never'/);
  });
});
