/** Sandbox toolkit: code, commands and sessions. */
import type { Rules } from './requirement.ts';

export const sandboxExecution: Rules = {
  'SBX-CODE-01': 'RunCode requires code and gives output, exit code and the charts it made.',
  'SBX-CODE-02': 'Code goes to the interpreter of the sandbox’s language as it is: no shell touches it.',
  'SBX-CODE-03': 'RunCode: timeout_seconds is 1 to 300 and defaults to 30.',
  'SBX-CODE-04': 'Nothing of one RunCode call (variables, imports) is there in the next.',

  'SBX-EXEC-01': 'RunCommand requires command and gives its results.',
  'SBX-EXEC-02': 'cwd is relative to the sandbox root and is where the command runs.',
  'SBX-EXEC-03': 'env is added to the environment of this command only.',
  'SBX-EXEC-04': 'RunCommand: timeout_seconds is 1 to 600 and defaults to 60.',

  'SBX-SESSION-01':
    'CreateSession takes an optional session_id, generates one otherwise, and returns the session.',
  'SBX-SESSION-02': 'ListSessions gives the active sessions with status and recent commands, without pages.',
  'SBX-SESSION-03': 'RunSessionCommand requires session_id and command and gives the command’s results.',
  'SBX-SESSION-04': 'async_exec defaults to false: the answer comes when the command has ended.',
  'SBX-SESSION-05':
    'async_exec true answers with status running while the command runs; exit_code may be absent.',
  'SBX-SESSION-06': 'GetSessionCommandLogs requires session_id and command_id and gives the command’s logs.',
  'SBX-SESSION-07': 'SendSessionInput requires session_id, command_id and input, and confirms.',
  'SBX-SESSION-08': 'SendSessionInput appends a newline to the input.',
  'SBX-SESSION-09': 'A session command has a command_id and a status.',
  'SBX-SESSION-10': 'In RunCode, RunCommand and all session tools `sandbox` is optional.',
};
