/** Documents at the edge of what a server keeps, and beyond what text can say. */
import { Binary, type Document, Long, MongoClient, type ObjectId, Timestamp } from 'mongodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProxy } from '../connection/proxy.ts';
import { connectionStringAt, plainOptions, useTestDatabase } from '../server.ts';

const id = (value: number) => value as unknown as ObjectId;

function nested(depth: number): Document {
  let document: Document = { end: true };
  for (let level = 1; level < depth; level++) document = { a: document };
  return document;
}

const depth = 100;
const large = 'x'.repeat(16 * 1024 * 1024 - 100);

const database = useTestDatabase({
  odd: [
    { _id: id(1), deep: nested(depth - 1) },
    { _id: id(2), 'a.b': 1, $c: 2, 'd e': { 'f.g': { $h: 3 } }, '': 4, __proto__2: 5 },
    { _id: id(3), text: 'nul \0 inside', control: '\u0001\u2028', lone: 'ok' },
    {
      _id: id(4),
      max: Long.MAX_VALUE,
      uuid: new Binary(Buffer.alloc(16, 7), 4),
      time: new Timestamp({ t: 1, i: 2 }),
    },
    { _id: id(5), when: new Date(8.64e15), early: new Date(-8.64e15), nan: Number.NaN, zero: -0 },
  ],
  large: [{ _id: id(1), large }],
});

async function one(collection: string, _id: number, maxBytes = plainOptions.maxBytes) {
  const query = { database: database.name, collection, filter: JSON.stringify({ _id }), skip: 0 };
  const result = await database.documents.find(query).run({ ...plainOptions, maxBytes });
  return result;
}

const textOf = async (_id: number) => (await one('odd', _id)).documents[0] ?? '';

describe('documents at the edge', () => {
  it('of 16 MB are shown by their size, and come where there is room', async () => {
    const small = await one('large', 1);
    expect([small.documents, small.hasMore]).toEqual([[], true]);
    expect(small.notes.join()).toMatch(/alone is 167\d{5} bytes/);
    const room = await one('large', 1, 2 ** 25);
    expect(room.documents[0]?.length).toBeGreaterThan(large.length);
    const query = { database: database.name, collection: 'large', skip: 0 };
    const exported = await database.documents.find(query).export(plainOptions);
    let bytes = 0;
    for await (const chunk of exported.lines) bytes += chunk.length;
    expect(bytes).toBe(exported.bytes);
    expect(bytes).toBeGreaterThan(large.length);
  });

  it(`nested ${depth} deep come as they are, and can be asked for`, async () => {
    expect(JSON.parse(await textOf(1))).toEqual({ _id: 1, deep: nested(depth - 1) });
    const filter = JSON.stringify({ [`deep.${'a.'.repeat(depth - 2)}end`]: true });
    const query = { database: database.name, collection: 'odd', filter };
    expect((await database.documents.count(query).run(plainOptions)).count).toBe(1);
  });

  it('with dots, dollars and nothing in their names', async () => {
    expect(JSON.parse(await textOf(2))).toEqual({
      _id: 2,
      'a.b': 1,
      $c: 2,
      'd e': { 'f.g': { $h: 3 } },
      '': 4,
      __proto__2: 5,
    });
  });

  it('with NUL and other controls in their values', async () => {
    expect(JSON.parse(await textOf(3))).toMatchObject({ text: 'nul \0 inside', control: '\u0001\u2028' });
    const query = { database: database.name, collection: 'odd', filter: '{"text": "nul \\u0000 inside"}' };
    expect((await database.documents.count(query).run(plainOptions)).count).toBe(1);
  });

  it('with values that JSON does not have, exactly', async () => {
    expect(JSON.parse(await textOf(4))).toEqual({
      _id: 4,
      max: { $numberLong: '9223372036854775807' },
      uuid: { $binary: { base64: 'BwcHBwcHBwcHBwcHBwcHBw==', subType: '04' } },
      time: { $timestamp: { t: 1, i: 2 } },
    });
    expect(JSON.parse(await textOf(5))).toEqual({
      _id: 5,
      when: { $date: { $numberLong: '8640000000000000' } },
      early: { $date: { $numberLong: '-8640000000000000' } },
      nan: { $numberDouble: 'NaN' },
      zero: -0,
    });
  });

  it('come with a mark in the place of bytes that are not UTF-8', async () => {
    // The driver writes none, so its bytes are changed on their way.
    const proxy = await startProxy();
    proxy.rewrite = (data) => {
      const at = data.indexOf('ab??cd');
      if (at >= 0) data.write('\xff\xfe', at + 2, 'latin1');
      return data;
    };
    const client = new MongoClient(connectionStringAt(proxy.port));
    onTestFinished(() => client.close());
    await client
      .db(database.name)
      .collection('odd')
      .insertOne({ _id: id(9), text: 'ab??cd' });
    expect(JSON.parse(await textOf(9))).toEqual({ _id: 9, text: 'ab\ufffd\ufffdcd' });
  });
});
