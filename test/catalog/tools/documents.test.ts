import { describe, expect, it } from 'vitest';
import { findTool } from '../../../src/catalog/call.ts';
import { FILTER_PARAMETER } from '../../../src/model/document-schema.ts';
import { callWith, signal, user } from './call-with.ts';

const place = { database_name: 'shop', collection_name: 'orders' };
const collection = { database: 'shop', collection: 'orders' };
const MiB = 1024 * 1024;

function find(parameters: object, answer: object) {
  const whole = { documents: ['{}'], hasMore: false, notes: [], ...answer };
  return callWith('DocumentDb.FindDocuments', { ...place, ...parameters }, 'documents.find', whole);
}

describe('a query', () => {
  it.each(['FindDocuments', 'CountDocuments'])(
    'of %s has its filter where errors and hints point',
    (name) => {
      expect(Object.keys(findTool(`DocumentDb.${name}`).input.shape)).toContain(FILTER_PARAMETER);
    },
  );

  it('returns its documents, and no empty notes', async () => {
    const { result, text } = await find({}, {});
    expect(result).toEqual({ result: ['{}'], returned: 1, has_more: false });
    expect(text).toBe('1 document.\n{}');
  });

  it('shows notes, and how to go on', async () => {
    const answer = { hasMore: true, notes: ['a note'], next: { filter: { _id: 5 } } };
    const { result, text } = await find({}, answer);
    expect(result).toMatchObject({ notes: ['a note'], next: { filter_dict: { _id: 5 } } });
    expect(text).toBe(
      '1 document. has_more: there are more. next: {"filter_dict":{"_id":5}}\nNote: a note\n{}',
    );
    expect((await find({}, { next: { skip: 10 } })).result['next']).toEqual({ skip: 10 });
  });

  it('ends with its call', async () => {
    const { asked } = await find({ limit: 7 }, {});
    expect(asked).toMatchObject([{ limit: 7 }, 16 * MiB, { signal }]);
  });
});

describe('a saved result', () => {
  const target = { save_to_sandbox: 'box', save_to_path: 'orders.jsonl' };
  const saved = { count: 2, bytes: 40, fields: ['_id', 'total'], hasMore: false, notes: [] };

  const save = (parameters: object, answer: unknown, context = {}) =>
    callWith(
      ...(['DocumentDb.FindDocuments', { ...place, ...target, ...parameters }] as const),
      ...(['documents.saveFind', answer, context] as const),
    );

  it('returns no document, but where and what they are', async () => {
    const { result, text } = await save({}, saved);
    expect(result).toEqual({
      ...{ result: [], returned: 0, has_more: false },
      saved: { sandbox: 'box', path: 'orders.jsonl', count: 2, size_bytes: 40, fields: ['_id', 'total'] },
    });
    expect(text).toBe(
      "2 documents (40 bytes) saved in orders.jsonl of sandbox 'box', a JSON line each. Fields: _id, total.",
    );
  });

  it('shows no fields where there are none, and its notes', async () => {
    const { result, text } = await save({}, { ...saved, fields: [], notes: ['a note'] });
    expect(result['notes']).toEqual(['a note']);
    expect(text).toBe(
      "2 documents (40 bytes) saved in orders.jsonl of sandbox 'box', a JSON line each.\nNote: a note",
    );
  });

  it('has all documents, or as many as asked for', async () => {
    expect((await save({}, saved)).asked[0]).not.toHaveProperty('limit');
    expect((await save({ limit: 7 }, saved)).asked[0]).toMatchObject({ limit: 7 });
  });

  it('reports its progress after each 4 MiB', async () => {
    const reports: unknown[] = [];
    const answer = (...[, , , options]: [unknown, unknown, unknown, Record<string, unknown>]) => {
      const onSaved = options['onSaved'] as (count: number, bytes: number) => void;
      for (const bytes of [1, 4 * MiB - 1, 4 * MiB, 8 * MiB - 1, 9 * MiB]) onSaved(bytes / MiB, bytes);
      return saved;
    };
    await save({}, answer, { progress: (report: unknown) => reports.push(report) });
    expect(reports).toEqual([
      { message: '4 documents saved', done: 4 },
      { message: '9 documents saved', done: 9 },
    ]);
  });

  it.each([
    [{ save_to_sandbox: 'box' }, 'save_to_path'],
    [{ save_to_path: 'a' }, 'save_to_sandbox'],
  ])('needs a sandbox and a path: %j is refused', async (half, missing) => {
    await expect(find(half, {})).rejects.toMatchObject({ fields: { parameter: missing } });
  });
});

describe('CountDocuments', () => {
  it('counts what the filter matches, with its notes', async () => {
    const given = { ...place, filter_dict: '{"a":1}' };
    const answer = { count: 0, notes: ['nothing has a'] };
    const { result, asked } = await callWith('DocumentDb.CountDocuments', given, 'documents.count', answer);
    expect(asked).toMatchObject([{ ...collection, filter: '{"a":1}' }, { signal }]);
    expect(result).toEqual({ result: 0, notes: ['nothing has a'] });
  });

  it('has no empty notes', async () => {
    const answer = { count: 3, notes: [] };
    const { result } = await callWith('DocumentDb.CountDocuments', place, 'documents.count', answer);
    expect(result).toEqual({ result: 3 });
  });
});

it('a service gets the caller of a tool', async () => {
  let caller: unknown;
  const answer = (given: unknown) => {
    caller = given;
    return { count: 0, notes: [] };
  };
  await callWith('DocumentDb.CountDocuments', place, 'documents.count', answer);
  expect(caller).toBe(user);
});
