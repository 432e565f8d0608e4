/** Results of the tools that run a session's commands. */
import type { Samples } from './sample.ts';

const names = { session_id: 's', command_id: 'cmd_1' };
const running = { ...names, status: 'running' };
const ended = { ...names, status: 'completed', exit_code: 3 };

export const sessionSamples: Samples = {
  'Sandbox.RunSessionCommand': [
    {
      result: { ...ended, output: 'a' },
      says: { output: /^a\n\[no newline at the end\]\n/, exit_code: 'exit code 3', status: 'completed' },
    },
    {
      result: { ...running, output: '' },
      says: { status: '(no output)\n[cmd_1 is running]', command_id: 'cmd_1' },
    },
  ],
  'Sandbox.GetSessionCommandLogs': [
    {
      result: {
        ...ended,
        ...{ output: 'a\nb\n', stdout: 'a\n', stderr: 'b\n', truncated: true, next_offset: 4 },
      },
      says: {
        output: /^stdout:\na\nstderr:\nb\n\[cmd_1 /,
        stdout: 'stdout:\na\n',
        stderr: '\nstderr:\nb\n',
        status: '[cmd_1 is completed, exit code 3',
        exit_code: 'exit code 3',
        truncated: 'truncated: the middle is left out',
        next_offset: 'next_offset 4',
      },
    },
    {
      result: {
        ...{ ...running, output: 'a\nb\na\n', stdout: 'a\na\n', stderr: 'b\n' },
        ...{ truncated: false, next_offset: 6 },
      },
      says: { output: /^as it came:\na\nb\na\nstdout:\na\na\nstderr:\nb\n\[cmd_1 is running, / },
    },
    {
      result: { ...running, output: 'a\n', stdout: '', stderr: 'a\n', truncated: false, next_offset: 2 },
      says: { stderr: /^a\n\[cmd_1 is running, next_offset 2, all of it on stderr\]$/ },
    },
  ],
  'Sandbox.SendSessionInput': [
    { result: { ...names, sent: true }, says: { sent: 'Sent to cmd_1.' } },
    {
      result: { ...running, sent: true, output: 'hello\n', next_offset: 9 },
      says: { output: /^hello\n/, status: 'is running', next_offset: 'next_offset 9' },
    },
    { result: { ...ended, sent: true, output: '', next_offset: 9 }, says: { exit_code: 'exit code 3' } },
  ],
};
