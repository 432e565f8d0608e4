/** A service whose operator named no database, or wrote a connection string that nobody can read. */
import { expect, it, onTestFinished } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { call, type Service, startService } from '../../support/service.ts';

const names = tools.map(({ name }) => name).filter((name) => name.startsWith('DocumentDb.'));

/** Enough for each of them to be called. */
function parametersOf(tool: string): Record<string, unknown> {
  if (tool.endsWith('DiscoverDatabases')) return {};
  if (tool.endsWith('DiscoverCollections')) return { database_name: 'shop' };
  const collection = { database_name: 'shop', collection_name: 'orders' };
  return tool.endsWith('AggregateDocuments') ? { ...collection, pipeline: [] } : collection;
}

async function serviceWith(DOCUMENTDB_CONNECTION_STRING: string, orderOfUse = 'enforce'): Promise<Service> {
  const env = { DOCUMENTDB_CONNECTION_STRING, DOCUMENTDB_ORDER_OF_USE: orderOfUse };
  const service = await startService({ env });
  onTestFinished(() => service.stop());
  return service;
}

it('[DDB-AUTH-01] without a connection string every tool is unavailable, and names both ways out', async () => {
  const service = await serviceWith('');
  expect(names).toHaveLength(6);
  for (const name of names) {
    const { status, body } = await call(service, name, parametersOf(name));
    expect({ name, status }).toEqual({ name, status: 503 });
    expect(body).toMatchObject({ code: 'unavailable', retryable: false });
    expect(body['hint']).toContain('DOCUMENTDB_CONNECTION_STRING');
    expect(body['hint']).toContain('sandhaven demo-db');
  }
});

/** The other kinds of such strings: `secrets.test.ts`, without a service. */
it('[DDB-AUTH-02] no error quotes a part of a string that cannot be read', async () => {
  const service = await serviceWith('mongodb://canary-user:canary/pass:wo@rd@canary-host', 'advise');
  for (const name of names) {
    const { body } = await call(service, name, parametersOf(name));
    expect(body).toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('DOCUMENTDB_CONNECTION_STRING'),
    });
    expect(JSON.stringify(body)).not.toMatch(/canary/i);
  }
  expect(service.log()).not.toMatch(/canary/i);
});
