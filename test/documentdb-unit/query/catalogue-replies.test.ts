/** What servers say of collections, indexes and credentials, and what is made of it when it is not as it should be. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Double, Int32, Long } from '../../../src/documentdb/bson/library.ts';
import { readCollection, readIndex } from '../../../src/documentdb/collections/collection-info.ts';
import { judge } from '../../../src/documentdb/connection/privileges.ts';

describe('a collection that the server lists', () => {
  it('is shown with its special properties', () => {
    expect(readCollection({ name: 'a', type: 'collection', options: {}, info: { readOnly: false } })).toEqual(
      {
        name: 'a',
        type: 'collection',
      },
    );
    expect(readCollection({ name: 'v', type: 'view', options: { viewOn: 'a', pipeline: [] } })).toEqual({
      name: 'v',
      type: 'view',
      viewOn: 'a',
    });
    const timeseries = {
      timeField: 'at',
      metaField: 'device',
      granularity: 'hours',
      bucketMaxSpanSeconds: 9,
    };
    expect(readCollection({ name: 't', type: 'timeseries', options: { timeseries } })).toEqual({
      name: 't',
      type: 'timeseries',
      timeseries: { timeField: 'at', metaField: 'device', granularity: 'hours' },
    });
    const validator = { $jsonSchema: { required: ['a'], properties: { a: { minimum: new Long(5) } } } };
    expect(readCollection({ name: 'c', options: { capped: true, size: 10, validator } })).toEqual({
      name: 'c',
      type: 'collection',
      capped: true,
      validator: { $jsonSchema: { required: ['a'], properties: { a: { minimum: expect.anything() } } } },
    });
  });

  it.each(['system.views', 'system.buckets.t', 'system.profile'])("%s is the server's own", (name) => {
    expect(readCollection({ name, type: 'collection' })).toBeNull();
  });

  it('is read or left out, in any form', () => {
    fc.assert(
      fc.property(fc.anything(), (entry) => {
        for (const read of [readCollection(entry), readIndex(entry)]) {
          expect(read === null || typeof read.name === 'string').toBe(true);
        }
        expect([true, false, null]).toContain(judge(entry));
      }),
    );
  });
});

describe('an index that the server lists', () => {
  it('is shown by its key and its properties', () => {
    expect(readIndex({ v: 2, key: { _id: 1 }, name: '_id_' })).toEqual({
      name: '_id_',
      key: { _id: 1 },
      unique: true,
    });
    const key = { a: new Int32(-1), b: new Double(1), c: 'text' };
    const partial = {
      partialFilterExpression: { a: { $gt: 1 } },
      expireAfterSeconds: new Long(60),
      sparse: true,
    };
    expect(readIndex({ key, name: 'x', unique: true, ...partial })).toEqual({
      name: 'x',
      key: { a: -1, b: 1, c: 'text' },
      unique: true,
      sparse: true,
      expireAfterSeconds: 60,
      partial: true,
    });
  });

  it('is left out when queries do not use it', () => {
    expect(readIndex({ key: { a: 1 }, name: 'x', hidden: true })).toBeNull();
  });
});

describe('credentials', () => {
  const user = { authenticatedUsers: [{ user: 'a', db: 'admin' }] };
  const privileges = (...actions: string[]) => ({
    authenticatedUserPrivileges: [{ resource: { db: '', collection: '' }, actions }],
  });
  const roles = (...names: string[]) => ({
    authenticatedUserRoles: names.map((role) => ({ role, db: 'admin' })),
  });

  it.each<[string, object | undefined, boolean | null]>([
    ['of a reader', { ...user, ...privileges('find', 'listCollections', 'collStats') }, false],
    ['of a reader, by role', { ...user, ...roles('read', 'readAnyDatabase') }, false],
    ['that may insert', { ...user, ...privileges('find', 'insert') }, true],
    ['of an owner, by role', { ...user, ...roles('read', 'dbOwner') }, true],
    ['of a role of their own', { ...user, ...roles('analyst') }, null],
    ['of nobody, where nobody is asked', { authenticatedUsers: [] }, true],
    ['that the server does not tell', undefined, null],
  ])('%s', (_, authInfo, expected) => {
    expect(judge(authInfo)).toBe(expected);
  });
});
