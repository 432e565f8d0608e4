import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorTable, SandhavenError, toProblem } from '../../src/model/errors.ts';

/** As the wire shapes list them: code, HTTP status, exit status. */
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

  it('tells nothing of a defect but the request to look for', () => {
    const problem = toProblem(new Error('/secret/path token=abc'), 'req_2');
    expect(problem).toMatchObject({ code: 'internal', status: 500, request_id: 'req_2' });
    expect(JSON.stringify(problem)).not.toContain('secret');
  });
});
