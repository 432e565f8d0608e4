/** Wire shapes: work inside a sandbox: files, execution, sessions, Git. */
import type { Rules } from './requirement.ts';

export const wireInside: Rules = {
  'WIRE-FILES-01':
    'ListFiles gives path, files of name, type, size and link, total_count, has_more and offset.',
  'WIRE-FILES-02': 'ListFiles is sorted by name and one level deep; what is not a directory is a file.',
  'WIRE-FILES-03':
    'FindFiles gives paths, total_count, has_more and offset: files and directories, recursive, sorted.',
  'WIRE-FILES-04':
    'FindFiles includes hidden names, does not follow links, and is relative to the root when inside it.',
  'WIRE-FILES-05': 'GetFileInfo gives path, type, size, permissions, mode, owner, group and modified_time.',
  'WIRE-FILES-06': 'GetFileInfo does not follow the last link.',
  'WIRE-FILES-07': 'ReadFile gives path, content, encoding, size, total_lines, start_line and end_line.',
  'WIRE-FILES-08': 'ReadFile: lines end with \\n, and joined ranges are the exact bytes of the file.',
  'WIRE-FILES-09': 'ReadFile: a range with bytes that are not UTF-8 comes as base64.',
  'WIRE-FILES-10': 'ReadFile: start_line past the end gives empty content.',
  'WIRE-FILES-11': 'ReadFile: end_line before start_line: invalid_argument.',
  'WIRE-FILES-12': 'ReadFile of a FIFO, a socket, a device or a directory: invalid_argument.',
  'WIRE-FILES-13': 'WriteFile gives path, bytes_written and created.',
  'WIRE-FILES-14': 'WriteFile replaces an existing file atomically and keeps its mode.',
  'WIRE-FILES-15': 'WriteFile takes encoding base64.',
  'WIRE-FILES-16': 'CreateFolder gives path, created and mode.',
  'WIRE-FILES-17': 'CreateFolder: mode is 3 or 4 octal digits and exact whatever the umask.',
  'WIRE-FILES-18':
    'CreateFolder: an existing folder is created: false; another file in the way is already_exists.',
  'WIRE-FILES-19': 'MoveFile gives source and destination; an existing destination is already_exists.',
  'WIRE-FILES-20':
    'MoveFile: a missing destination folder is not_found; a move into itself is invalid_argument.',
  'WIRE-FILES-21': 'DeleteFile gives path and deleted: true; a link is deleted itself, never its target.',
  'WIRE-FILES-22': 'DeleteFile of a non-empty directory without recursive: failed_precondition.',
  'WIRE-FILES-23': 'DeleteFile of the sandbox root or of /: invalid_argument.',
  'WIRE-FILES-24': 'A byte b that is not UTF-8 in a name is U+F700 + b, in outputs and parameters alike.',

  'WIRE-SEARCH-01': 'SearchContent gives files of path, matches, match_count and capped, and literal.',
  'WIRE-SEARCH-02': 'A match is line and text, and before and after where lines of context are asked for.',
  'WIRE-SEARCH-03': 'total_count counts matching files; has_more and offset page through them.',
  'WIRE-SEARCH-04': 'query has the syntax of grep -E, with \\w \\s \\d \\b and back-references.',
  'WIRE-SEARCH-05': 'A query that does not compile is searched as plain text, and literal is true.',
  'WIRE-SEARCH-06': 'Files with a NUL byte, FIFOs and devices are skipped; hidden and ignored files are not.',
  'WIRE-SEARCH-07': 'A long line is cut around the match.',
  'WIRE-SEARCH-09':
    'A query that finds nothing as an expression, and something as plain text, says so; literal asks for that.',
  'WIRE-SEARCH-10': 'output asks for the paths alone, or for counts of all lines that match.',

  'WIRE-REPLACE-01':
    'ReplaceInFiles gives results of path, status, replacements and error, and files_modified.',
  'WIRE-REPLACE-02': 'The first alternative of the pattern that matches wins.',
  'WIRE-REPLACE-03': 'In the replacement \\1 to \\9 and & mean what they mean in sed.',
  'WIRE-REPLACE-04': 'A file that is named twice is edited once.',
  'WIRE-REPLACE-05':
    'A glob without a match, a file that cannot be edited and one that takes too long are error rows.',
  'WIRE-REPLACE-06':
    'A pattern that finds nothing, and something as plain text, says so; literal asks for that.',
  'WIRE-REPLACE-07': 'A dry run changes nothing and counts; what is excluded is left alone.',
  'WIRE-REPLACE-08': 'Files without a match are counted and not listed; the replacements are summed up.',

  'WIRE-EXEC-01': 'RunCommand gives output, stdout, stderr, exit_code, timed_out, truncated and duration_ms.',
  'WIRE-EXEC-02': 'RunCode gives the same and charts.',
  'WIRE-EXEC-03': 'output is stdout and stderr interleaved as they came.',
  'WIRE-EXEC-04': 'RunCommand is bash -c, sh where there is no bash, with empty standard input.',
  'WIRE-EXEC-05': 'A command returns when its shell exits; its background children live on.',
  'WIRE-EXEC-06': 'A timeout kills the whole process tree, detached children included.',
  'WIRE-EXEC-07':
    'After a timeout timed_out is true, exit_code is 124, and what was printed until then is there.',
  'WIRE-EXEC-08': 'A killed process gives 128 plus the signal.',
  'WIRE-EXEC-09': 'Output over 1 MiB a stream keeps its halves with a marker between, and truncated is true.',
  'WIRE-EXEC-10': 'A missing cwd: not_found.',
  'WIRE-EXEC-11': 'A chart has type, title, x_label, y_label, x_scale, y_scale, elements and png in base64.',
  'WIRE-EXEC-12': 'Every matplotlib figure that the code shows or leaves open is a chart.',
  'WIRE-EXEC-13': 'Nothing that code prints can pass for a chart.',
  'WIRE-EXEC-14': 'An interpreter that the image lacks: failed_precondition.',

  'WIRE-SESSION-01':
    'CreateSession gives session_id, status active and created_at; the id is [A-Za-z0-9_-]{1,64}.',
  'WIRE-SESSION-02': 'A session_id that is taken: already_exists.',
  'WIRE-SESSION-03': 'ListSessions gives sessions of session_id, status, created_at and recent_commands.',
  'WIRE-SESSION-04': 'Directory, variables and functions of a session persist between its commands.',
  'WIRE-SESSION-05':
    'exit in a command ends it with that code and closes the session; later commands: invalid_state.',
  'WIRE-SESSION-06':
    'RunSessionCommand gives session_id, command_id, status, exit_code when ended, and output.',
  'WIRE-SESSION-07': 'Commands of one session run one after another, in order.',
  'WIRE-SESSION-08': 'A synchronous call answers after 60 s of waiting for its turn or 600 s of running.',
  'WIRE-SESSION-09': 'A command that is not complete shell fails by itself; the next one works.',
  'WIRE-SESSION-10': 'GetSessionCommandLogs gives status, exit_code, output, stdout, stderr and truncated.',
  'WIRE-SESSION-11':
    'SendSessionInput gives session_id, command_id and sent: true, and appends exactly one newline.',
  'WIRE-SESSION-12': 'SendSessionInput to a command that has ended: invalid_state.',
  'WIRE-SESSION-13': 'Sessions, running commands and logs survive a restart of the service.',
  'WIRE-SESSION-14':
    'A stop of the sandbox closes its sessions: later commands are invalid_state, logs stay until the next start.',
  'WIRE-SESSION-15':
    'With async_exec the answer is always running; the logs and ListSessions say queued and completed.',

  'WIRE-GIT-01': 'GitClone gives path, branch and sha.',
  'WIRE-GIT-02':
    'GitStatus gives branch, staged, modified, untracked, conflicted, ahead and behind, and upstream.',
  'WIRE-GIT-03': 'GitStatus: branch is null on a detached HEAD; ahead and behind are 0 without an upstream.',
  'WIRE-GIT-04': 'GitAdd gives added.',
  'WIRE-GIT-05': 'GitCommit gives sha and branch; message is the whole message, verbatim.',
  'WIRE-GIT-06': 'GitBranches gives branches of name and current, and current.',
  'WIRE-GIT-07': 'GitCheckout gives ref, branch and created.',
  'WIRE-GIT-08': 'GitCreateBranch gives branch and switched: true.',
  'WIRE-GIT-09': 'GitDeleteBranch gives branch and deleted: true; unmerged or current: failed_precondition.',
  'WIRE-GIT-10':
    'GitLog gives commits of hash, author, email, date and message; an empty repository gives none.',
  'WIRE-GIT-11': 'GitPull gives branch, updated and sha.',
  'WIRE-GIT-12': 'GitPush gives branch, remote and pushed: true; refused by the remote: failed_precondition.',
  'WIRE-GIT-13': 'Remotes are http, https, ssh, git, and paths or file:// inside the sandbox.',
  'WIRE-GIT-14': 'Credentials that are given to a tool never enter the sandbox.',
  'WIRE-GIT-15': 'What is configured inside, a URL with a password included, is used as git there would.',
};
