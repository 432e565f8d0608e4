/** Codes of Daytona's clients for failures of Git, by its own words and ours. */
import type { SandhavenError } from '../../../../model/errors.ts';
import type { Coded } from '../../base/errors.ts';

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

/** Returns null for a failure of another kind. */
export function gitCode({ message }: SandhavenError): Coded | null {
  return failures.find(({ words }) => words.test(message)) ?? null;
}
