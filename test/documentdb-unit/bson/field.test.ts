/** One field of a raw document. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldDocument, readField } from '../../../src/documentdb/bson/field.ts';
import { deserialize, ObjectId, serialize } from '../../../src/documentdb/bson/library.ts';
import { exactDocuments, oddDocuments } from './generated.ts';

describe('a field of a raw document', () => {
  it('is found alone, wherever it stands and whatever is before it', () => {
    fc.assert(
      fc.property(exactDocuments, (bson) => {
        const all = deserialize(bson, { promoteValues: false, bsonRegExp: true });
        for (const [name, value] of Object.entries(all)) {
          const found = fieldDocument(bson, name);
          expect(Buffer.from(found ?? []).equals(Buffer.from(serialize({ [name]: value })))).toBe(true);
          expect(readField(bson, name)).toEqual(value);
        }
        expect(fieldDocument(bson, 'no such name, ever')).toBeNull();
        expect(readField(bson, 'no such name, ever')).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('is not one of a document inside', () => {
    const id = new ObjectId();
    const bson = serialize({ a: { _id: 1 }, b: [{ _id: 2 }], _id: id });
    expect(readField(bson, '_id')).toEqual(id);
    expect(fieldDocument(serialize({ a: { _id: 1 } }), '_id')).toBeNull();
  });

  it('is searched through every type', () => {
    fc.assert(
      fc.property(oddDocuments, (bson) => {
        expect(fieldDocument(bson, 'no such name, ever')).toBeNull();
      }),
      { numRuns: 500 },
    );
  });
});
