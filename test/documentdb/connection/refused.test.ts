/** What is refused here is never sent. */
import { describe, expect, it } from 'vitest';
import type { DocumentDatabase } from '../../../src/control/ports/index.ts';
import { connectionStringAt, connectTo, useTestDatabase } from '../server.ts';
import { startProxy } from './proxy.ts';

const database = useTestDatabase();

const find = (request: object) => (documents: DocumentDatabase) =>
  documents.find({ database: database.name, collection: 'c', skip: 0, ...request });
const aggregate = (...pipeline: string[]) => aggregateOf('c', ...pipeline);
const aggregateOf =
  (collection: string, ...pipeline: string[]) =>
  (documents: DocumentDatabase) =>
    documents.aggregate({ database: database.name, collection, pipeline });

describe('[WIRE-DB-12] refused before anything is sent', () => {
  it.each<[string, string, (documents: DocumentDatabase) => unknown]>([
    ['a filter that runs JavaScript', 'filter_dict', find({ filter: '{"$where": "true"}' })],
    ['a filter that is no JSON', 'filter_dict', find({ filter: "{'a': 1}" })],
    ['a projection that runs JavaScript', 'projection', find({ projection: '{"a": {"$function": {}}}' })],
    ['a pipeline that writes', 'pipeline', aggregate('{"$match": {}}', '{"$out": "other"}')],
    ['one that writes further in', 'pipeline', aggregate('{"$facet": {"a": [{"$merge": "other"}]}}')],
    [
      'an accumulator of JavaScript',
      'pipeline',
      aggregate('{"$group": {"_id": 1, "a": {"$accumulator": {}}}}'),
    ],
    ['another database', 'pipeline', aggregate('{"$lookup": {"from": {"db": "x", "coll": "y"}, "as": "z"}}')],
    ["the server's own collections", 'collection_name', aggregateOf('system.users')],
    ["the server's own databases", 'database_name', find({ database: 'admin' })],
  ])('%s', async (_, parameter, ask) => {
    const proxy = await startProxy();
    const documents = connectTo(connectionStringAt(proxy.port));
    expect(() => ask(documents)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        fields: expect.objectContaining({ parameter: expect.stringContaining(parameter) }),
      }),
    );
    expect(proxy.sent()).toBe('');
    // The same way does lead to the server.
    await documents.databases();
    expect(proxy.sent()).toContain('listDatabases');
  });
});
