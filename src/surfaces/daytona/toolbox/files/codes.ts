/** Codes of errors for which Daytona's clients have classes. */
import { errorTable, type SandhavenError } from '../../../../model/errors.ts';
import type { Coded } from '../../base/errors.ts';

/** Faults that one file may have, and another beside it not. */
const ofOneFile: Partial<Record<SandhavenError['code'], string>> = {
  not_found: 'FILE_NOT_FOUND',
  permission_denied: 'FILE_ACCESS_DENIED',
  invalid_argument: 'INVALID_FILE_PATH',
  already_exists: 'ALREADY_EXISTS',
  failed_precondition: 'FAILED_PRECONDITION',
  too_large: 'TOO_LARGE',
};

const pathParameters = ['path', 'source', 'destination', 'files'];

/** Returns null for an error that is about more than one file: the sandbox, the caller, the service. */
export function fileCode({ code, fields: { resource, parameter = '' } }: SandhavenError): Coded | null {
  const isOfFile = resource === 'file' || resource === 'folder' || pathParameters.includes(parameter);
  const theirs = isOfFile ? ofOneFile[code] : undefined;
  if (theirs === undefined) return null;
  const { status } = errorTable[code];
  // Their clients know no class for 412 and 413.
  return { status: status === 412 || status === 413 ? 422 : status, code: theirs };
}
