/** Codes of failures in files and in Git for which Daytona's clients have classes. */
import { errorTable, type SandhavenError } from '../../../model/errors.ts';
import type { Coded } from '../base/errors.ts';

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

interface Failure extends Coded {
  words: RegExp;
}

/** The first that fits counts: a message of Git has several lines, and ends in general ones. */
const failures: readonly Failure[] = [
  {
    words:
      /authentication failed|could not read (?:username|password)|these credentials|permission denied \(publickey/i,
    ...{ status: 401, code: 'GIT_AUTH_FAILED' },
  },
  {
    words:
      /no such repository|repository .*(?:not found|does not exist)|(?:not|appear to be|inside|no) (?:a )?git repository/i,
    ...{ status: 404, code: 'GIT_REPO_NOT_FOUND' },
  },
  {
    words: /there are conflicts|\bconflict \(|unmerged|not concluded your merge/i,
    ...{ status: 409, code: 'GIT_MERGE_CONFLICT' },
  },
  {
    words: /would be overwritten|local changes|uncommitted|unstaged changes|not uptodate/i,
    ...{ status: 409, code: 'GIT_DIRTY_WORKTREE' },
  },
  { words: /\[remote rejected\]/i, status: 422, code: 'GIT_REMOTE_REJECTED' },
  { words: /\[rejected\]|was refused:/i, status: 409, code: 'GIT_PUSH_REJECTED' },
  { words: /branch .*already exists/i, status: 409, code: 'GIT_BRANCH_EXISTS' },
  {
    words:
      /there is no branch|branch .*not found|couldn't find remote ref|src refspec|not a valid object name|ambiguous argument|could not resolve '/i,
    ...{ status: 404, code: 'GIT_BRANCH_NOT_FOUND' },
  },
  {
    words:
      /unable to access|could not resolve host|could not be used|could not read from remote|does not answer|refuses the connection|cannot be reached|cannot be trusted/i,
    ...{ status: 502, code: 'GIT_TRANSPORT_FAILED' },
  },
];

/** Goes by the words of Git, and by ours. Returns null for a failure of another kind. */
export function gitCode({ message }: SandhavenError): Coded | null {
  return failures.find(({ words }) => words.test(message)) ?? null;
}
