/** Names of databases and collections that callers may give. */
import { describe, expect, it } from 'vitest';
import {
  checkCollectionName,
  checkDatabaseName,
  collectionNameFault,
  databaseNameFault,
} from '../../../src/documentdb/guard/names.ts';

const DATABASE_NAME_BYTES = 63;
const COLLECTION_NAME_BYTES = 255;

describe('the name of a database', () => {
  it.each(['shop', 'Shop_2', 'a-b', 'administration', 'é', 'x'.repeat(DATABASE_NAME_BYTES)])(
    'may be %j',
    (name) => {
      expect(databaseNameFault(name)).toBeNull();
    },
  );

  it.each([
    ...['', 'a/b', 'a\\b', 'a.b', 'a b', 'a"b', '$cmd', 'a\0', '\ud800'],
    'x'.repeat(DATABASE_NAME_BYTES + 1),
    'é'.repeat(DATABASE_NAME_BYTES),
  ])('is not %j', (name) => {
    expect(databaseNameFault(name)).toEqual(expect.any(String));
  });

  it.each(['admin', 'config', 'local', 'Admin', 'LOCAL'])(
    'is not %s, which is the server’s [WIRE-DB-01]',
    (name) => {
      expect(() => checkDatabaseName(name, 'database_name')).toThrow(
        expect.objectContaining({
          code: 'invalid_argument',
          message: `database_name "${name}" holds the server's own data.`,
          fields: expect.objectContaining({ parameter: 'database_name' }),
        }),
      );
    },
  );
});

describe('the name of a collection', () => {
  it.each(['orders', 'orders.2024', 'a b', 'systems', 'a.system.b', 'Ærlig', 'constructor', '__proto__'])(
    'may be %j',
    (name) => {
      expect(collectionNameFault(name)).toBeNull();
    },
  );

  it.each([
    ...['', '.a', '$cmd', 'a$b', 'a\0b', 'system', 'system.users', 'system.buckets.x', 'System.js', '\udfff'],
    'x'.repeat(COLLECTION_NAME_BYTES + 1),
  ])('is not %j', (name) => {
    expect(collectionNameFault(name)).toEqual(expect.any(String));
    expect(() => checkCollectionName(name, 'collection_name')).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });

  it('is shown short and with nothing invisible', () => {
    expect(() => checkCollectionName(`system.\u202e${'x'.repeat(1_000)}`, 'collection_name')).toThrow(
      /^collection_name "system\.\\u\{202e\}x+…" .{1,100}$|at most/,
    );
  });
});
