/** What the errors of servers mean to callers. */
import { MongoServerError } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { Faults } from '../../../src/documentdb/connection/faults.ts';
import { SandhavenError } from '../../../src/model/errors.ts';

const faults = new Faults('mongodb://user:s3cret-word@host/');
const name = { database: 'shop', collection: 'orders' };

function faultOf(code: number | undefined, errmsg = 'the server says so'): SandhavenError {
  const error = faults.of(new MongoServerError({ ok: 0, errmsg, ...(code !== undefined && { code }) }), {
    name,
    parameter: 'pipeline',
  });
  if (!(error instanceof SandhavenError)) throw error;
  return error;
}

describe('an error of the server', () => {
  it.each([
    ['bad value', 2, 'invalid_argument'],
    ['failed to parse', 9, 'invalid_argument'],
    ['type mismatch', 14, 'invalid_argument'],
    ['no text index', 27, 'invalid_argument'],
    ['a place in an expression', 16_006, 'invalid_argument'],
    ['an unknown stage', 40_324, 'invalid_argument'],
    ['an unknown command', 59, 'invalid_argument'],
    ['wrong credentials', 18, 'permission_denied'],
    ['no privilege', 13, 'permission_denied'],
    ['too long', 50, 'timeout'],
    ['no such collection', 26, 'not_found'],
    ['a sort in memory', 292, 'resource_exhausted'],
    ['a document over the limit', 10_334, 'too_large'],
    ['a lost cursor', 43, 'unavailable'],
    ['a restart', 11_600, 'unavailable'],
    ['nothing that is known', 1, 'unavailable'],
    ['no code at all', undefined, 'unavailable'],
  ])('%s (%s) is %s, with a hint', (_, code, expected) => {
    const fault = faultOf(code);
    expect(fault.code).toBe(expected);
    expect(fault.fields.hint).toMatch(/\w{3}/);
  });

  it('about a query is passed on in its words, naming the parameter', () => {
    const fault = faultOf(2, 'unknown operator: $gtt');
    expect(fault.message).toContain('unknown operator: $gtt');
    expect(fault.fields.parameter).toBe('pipeline');
  });

  it('about a collection names it', () => {
    expect(faultOf(13).message).toContain('shop.orders');
    expect(faultOf(26)).toMatchObject({
      message: expect.stringContaining("'orders' in 'shop'"),
      fields: { resource: 'collection' },
    });
  });

  it('[DDB-AUTH-02] loses the password that it repeats', () => {
    const fault = faultOf(2, 'bad s3cret-word in mongodb://user:s3cret-word@host/');
    expect(fault.message).toContain('bad … in mongodb://…');
    expect(
      JSON.stringify([fault.message, (fault.cause as Error).message, (fault.cause as Error).stack]),
    ).not.toContain('s3cret-word');
  });

  it('is recognized when it passes, and keeps its code', () => {
    const lost = new MongoServerError({ ok: 0, errmsg: 'cursor not found', code: 43 });
    const wrong = new MongoServerError({ ok: 0, errmsg: 'wrong', code: 2 });
    expect([faults.isPassing(lost), faults.isPassing(wrong)]).toEqual([true, false]);
    expect([faults.codeOf(lost), faults.codeOf(faults.of(lost))]).toEqual([43, 43]);
  });

  it('is one of the connection when the server has ended it before the query was written', () => {
    // As Node makes it, and the driver passes it on.
    const ended = Object.assign(new Error('This socket has been ended by the other party'), {
      code: 'EPIPE',
    });
    expect(faults.isPassing(ended)).toBe(true);
    expect(faults.of(ended)).toMatchObject({ code: 'unavailable' });
  });
});

describe('an error of our own', () => {
  it('stays what it is', () => {
    const own = new SandhavenError('too_large', 'So much.');
    expect(faults.of(own)).toBe(own);
  });

  it('stays a defect, without the password', () => {
    const defect = faults.of(new TypeError('s3cret-word is not a function'));
    expect(defect).not.toBeInstanceOf(SandhavenError);
    expect([defect.name, defect.message]).toEqual(['TypeError', '… is not a function']);
  });
});
