import { describe, expect, it } from 'vitest';
import {
  type ErrorCode,
  errorTable,
  invalidArgument,
  notFound,
  SandhavenError,
  toProblem,
} from '../../src/model/errors.ts';

/** As docs/contract.md lists them: code, HTTP status, exit status. */
const table: [ErrorCode, number, number][] = [
  ['invalid_argument', 400, 2],
  ['ambiguous_sandbox', 400, 2],
  ['unauthenticated', 401, 3],
  ['authorization_required', 401, 3],
  ['permission_denied', 403, 3],
  ['not_found', 404, 4],
  ['already_exists', 409, 5],
  ['invalid_state', 409, 5],
  ['failed_precondition', 412, 5],
  ['too_large', 413, 6],
  ['resource_exhausted', 429, 6],
  ['timeout', 504, 7],
  ['unavailable', 503, 7],
  ['internal', 500, 1],
];

describe('the table of errors', () => {
  it.each(table)(
    '[WIRE-ERR-03, WIRE-ERR-04, WIRE-ERR-06, WIRE-ERR-08, WIRE-ERR-09, WIRE-ERR-10, WIRE-ERR-11, WIRE-ERR-12, WIRE-ERR-13, WIRE-ERR-14, WIRE-ERR-15, WIRE-ERR-16, WIRE-ERR-17] %s: status %i, exit %i',
    (code, status, exit) => {
      expect(errorTable[code]).toMatchObject({ status, exit });
      expect(toProblem(new SandhavenError(code, 'why'), 'req_1')).toMatchObject({
        type: 'about:blank',
        code,
        status,
        detail: 'why',
        retryable: code === 'unavailable',
        request_id: 'req_1',
      });
    },
  );

  it('has no other codes', () => {
    expect(Object.keys(errorTable).sort()).toEqual(table.map(([code]) => code).sort());
  });

  it('shows nothing of a defect but the id of the request', () => {
    const problem = toProblem(new Error('/secret/path token=abc'), 'req_2');
    expect(problem).toMatchObject({ code: 'internal', status: 500, request_id: 'req_2' });
    expect(JSON.stringify(problem)).not.toContain('secret');
  });
});

describe('an error', () => {
  it('has its name, its code, its fields and its cause', () => {
    const cause = new Error('below');
    const error = new SandhavenError('timeout', 'too slow', { hint: 'Wait.' }, cause);
    expect(error).toMatchObject({ name: 'SandhavenError', code: 'timeout', message: 'too slow', cause });
    expect(error.fields).toEqual({ hint: 'Wait.' });
    expect(new SandhavenError('timeout', 'too slow')).not.toHaveProperty('cause');
  });

  it('keeps its own retry in its problem', () => {
    const of = (code: ErrorCode, retryable: boolean) =>
      toProblem(new SandhavenError(code, 'why', { retryable, parameter: 'x' }), 'req_1');
    expect(of('unavailable', false)).toMatchObject({ retryable: false, parameter: 'x' });
    expect(of('invalid_state', true)).toMatchObject({ retryable: true, title: 'Invalid state' });
  });

  it('of a defect names the request to report', () => {
    expect(toProblem('thrown text', 'req_3')).toMatchObject({
      detail: 'An internal error occurred.',
      hint: expect.stringContaining('req_3'),
    });
  });

  it('of an argument names the parameter, of a missing thing its kind, with a hint if there is one', () => {
    expect(invalidArgument('a', 'is wrong')).toMatchObject({ code: 'invalid_argument', message: 'is wrong' });
    expect(invalidArgument('a', 'is wrong').fields).toEqual({ parameter: 'a' });
    expect(invalidArgument('a', 'is wrong', 'Mend it.').fields).toEqual({ parameter: 'a', hint: 'Mend it.' });
    expect(notFound('file', 'is gone')).toMatchObject({ code: 'not_found', message: 'is gone' });
    expect(notFound('file', 'is gone').fields).toEqual({ resource: 'file' });
    expect(notFound('file', 'is gone', 'Look.').fields).toEqual({ resource: 'file', hint: 'Look.' });
  });
});
