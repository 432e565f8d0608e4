import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorTable, SandhavenError, toProblem } from '../../src/model/errors.ts';

/** As the wire shapes list them: code, HTTP status, exit status. */
const table: [ErrorCode, number, number, string][] = [
  ['invalid_argument', 400, 2, 'WIRE-ERR-03'],
  ['ambiguous_sandbox', 400, 2, 'WIRE-ERR-04'],
  ['unauthenticated', 401, 3, 'WIRE-ERR-06'],
  ['authorization_required', 401, 3, 'for a later tool'],
  ['permission_denied', 403, 3, 'WIRE-ERR-08'],
  ['not_found', 404, 4, 'WIRE-ERR-09'],
  ['already_exists', 409, 5, 'WIRE-ERR-10'],
  ['invalid_state', 409, 5, 'WIRE-ERR-11'],
  ['failed_precondition', 412, 5, 'WIRE-ERR-12'],
  ['too_large', 413, 6, 'WIRE-ERR-13'],
  ['resource_exhausted', 429, 6, 'WIRE-ERR-14'],
  ['timeout', 504, 7, 'WIRE-ERR-15'],
  ['unavailable', 503, 7, 'WIRE-ERR-16'],
  ['internal', 500, 1, 'WIRE-ERR-17'],
];

describe('the table of errors', () => {
  it.each(table)('%s: status %i, exit %i [%s]', (code, status, exit) => {
    expect(errorTable[code]).toMatchObject({ status, exit });
    expect(toProblem(new SandhavenError(code, 'why'), 'req_1')).toMatchObject({
      type: 'about:blank',
      code,
      status,
      detail: 'why',
      retryable: code === 'unavailable',
      request_id: 'req_1',
    });
  });

  it('has no other codes', () => {
    expect(Object.keys(errorTable).sort()).toEqual(table.map(([code]) => code).sort());
  });

  it('tells nothing of a defect but the request to look for', () => {
    const problem = toProblem(new Error('/secret/path token=abc'), 'req_2');
    expect(problem).toMatchObject({ code: 'internal', status: 500, request_id: 'req_2' });
    expect(JSON.stringify(problem)).not.toContain('secret');
  });
});
