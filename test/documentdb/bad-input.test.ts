/** What a caller got wrong is refused naming the parameter, the place in it, and what to write instead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Transport, transports } from '../support/transports.ts';
import { badCalls } from './bad-input.ts';
import { openProxy } from './connection/proxy.ts';
import { connectionStringAt, useTestDatabase } from './server.ts';
import { type Parameters, useService } from './service.ts';

const database = useTestDatabase({ things: [{ _id: 1, n: 1, name: 'a', list: [1] }] as never[] });
const proxy = await openProxy();
const documents = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: connectionStringAt(proxy.port) }));

beforeAll(() => documents.explore(database.name, ['things']));
afterAll(() => proxy.close());

/** The one that only the server knows to be wrong. */
const isForTheServer = (says: string) => says === 'limit value must';

function parametersFor(tool: string, parameters: Parameters): Parameters {
  const collection = tool === 'DiscoverCollections' ? {} : { collection_name: 'things' };
  return { database_name: database.name, ...collection, ...parameters };
}

function expectRefused(problem: Parameters | undefined, parameter: string, says: string): void {
  expect(problem).toMatchObject({
    code: 'invalid_argument',
    parameter,
    detail: expect.stringContaining(says),
    hint: expect.stringMatching(/.{8}/),
    retryable: false,
  });
}

describe('over HTTP', () => {
  it.each(badCalls)(
    '[WIRE-DB-10, DDB-TOOLS-02] %s (%s)',
    async (_what, tool, parameters, parameter, says) => {
      const before = queriesSent();
      const { status, body } = await documents.ask(tool, parametersFor(tool, parameters));
      expect(status).toBe(400);
      expectRefused(body, parameter, says);
      expect(queriesSent() - before).toBe(isForTheServer(says) ? 1 : 0);
    },
  );

  it.each([
    ['database', 'DiscoverCollections', { database_name: `${database.name}x` }, database.name],
    ['collection', 'GetCollectionSchema', { collection_name: 'thing' }, 'things'],
    ['collection', 'FindDocuments', { collection_name: 'thnigs' }, 'things'],
    ['collection', 'CountDocuments', { collection_name: 'Things' }, 'things'],
    ['collection', 'AggregateDocuments', { collection_name: 'thing', pipeline: [] }, 'things'],
    [
      'collection',
      'AggregateDocuments',
      { pipeline: ['{"$lookup": {"from": "thing", "localField": "n", "foreignField": "n", "as": "x"}}'] },
      'things',
    ],
  ])(
    '[WIRE-DB-06] a %s that is not there, for %s: the nearest is named',
    async (resource, tool, parameters, nearest) => {
      const { status, body } = await documents.ask(tool, parametersFor(tool, parameters));
      expect(status).toBe(404);
      expect(body).toMatchObject({ code: 'not_found', resource, hint: expect.stringContaining(nearest) });
    },
  );
});

describe.each(['MCP over HTTP', 'CLI'])('over %s', (name) => {
  let transport: Transport;
  beforeAll(async () => {
    const open = transports[name];
    if (!open) throw new Error('there is no such transport');
    transport = await open(documents.service);
  });
  afterAll(() => transport?.close());

  const kinds = [
    'a comma too many',
    'a list as a filter',
    'a limit of 0',
    'the database "admin"',
    'an operator that is not known',
    'a projection of both kinds',
    'a stage that is no JSON',
    'a sort without a direction',
  ];

  it.each(kinds)('%s', async (kind) => {
    const [bad] = badCalls.filter(([what]) => what === kind);
    if (!bad) throw new Error('there is no such call');
    const [, tool, parameters, parameter, says] = bad;
    const { problem } = await transport.invoke(`DocumentDb.${tool}`, parametersFor(tool, parameters));
    expectRefused(problem, parameter, says);
  });
});

/** By what a driver's commands begin with. */
function queriesSent(): number {
  return proxy.sent().split(/(?:find|aggregate|count|listCollections|listDatabases)\0/).length;
}
