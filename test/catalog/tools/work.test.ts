import { describe, expect, it } from 'vitest';
import { callWith, printed, signal } from './call-with.ts';

const ended = {
  ...{ output: 'a\n', stdout: 'a\n', stderr: '', exitCode: 0, timedOut: false, truncated: false },
  durationMs: 12.6,
};

describe('RunCommand', () => {
  it('passes the folder, and the time in milliseconds', async () => {
    const given = { command: 'ls', cwd: '/tmp', env: { A: '1' }, timeout_seconds: 5, sandbox: 'box' };
    const { asked, text } = await callWith('RunCommand', given, 'execution.runCommand', ended);
    const request = { command: 'ls', env: { A: '1' }, timeoutMs: 5_000, cwd: '/tmp' };
    expect(asked).toEqual(['box', request, signal]);
    expect(text).toContain('exit code 0, 13 ms');
  });

  it('prints the output alone after success, and the exit status otherwise', () => {
    const view = { output: 'a\n', exit_code: 0, timed_out: false };
    expect(printed('RunCommand', view)).toBe('a\n');
    expect(printed('RunCommand', { ...view, exit_code: 2 })).toContain('exit code 2');
    expect(printed('RunCommand', { ...view, exit_code: 124, timed_out: true })).toContain(
      'timed out, exit code 124',
    );
  });
});

describe('RunCode', () => {
  const chart = { type: 'line', title: 'Sales', x_label: 'month', y_label: '', elements: [1] };
  const whole = { ...chart, x_scale: null, y_scale: null, png: 'iVBO' };

  it('has its charts as lines of the text', async () => {
    const answer = { ...ended, charts: [whole, { ...whole, title: null, elements: [1, 2] }] };
    const given = { code: 'x', timeout_seconds: 3 };
    const { asked, result, text } = await callWith('RunCode', given, 'execution.runCode', answer);
    expect(asked[1]).toEqual({ code: 'x', timeoutMs: 3_000 });
    expect(result['charts']).toEqual(answer.charts);
    expect(text).toContain('[chart 1: line "Sales", x "month", 1 element]');
    expect(text).toContain('[chart 2: line, x "month", 2 elements]');
  });
});

describe('session commands', () => {
  const names = { session_id: 's', command_id: 'cmd_1' };

  it('are running for a caller who does not wait, whatever has happened since', async () => {
    const answer = { commandId: 'cmd_1', status: 'completed', exitCode: 0, output: '' };
    const given = { session_id: 's', command: 'x' };
    const waited = await callWith('RunSessionCommand', given, 'sessions.run', answer);
    expect(waited.result).toEqual({ ...names, status: 'completed', exit_code: 0, output: '' });
    expect(waited.asked[1]).toMatchObject({ wait: true });
    const async = { ...given, async_exec: true };
    const sent = await callWith('RunSessionCommand', async, 'sessions.run', answer);
    expect(sent.result).toEqual({ ...names, status: 'running', output: '' });
    expect(sent.asked[1]).toMatchObject({ wait: false });
  });

  it('print the output alone after success, and their status otherwise', () => {
    const view = { ...names, output: 'a\n', status: 'completed' };
    expect(printed('RunSessionCommand', { ...view, exit_code: 0 })).toBe('a\n');
    expect(printed('RunSessionCommand', { ...view, exit_code: 3 })).toContain('exit code 3');
    expect(printed('RunSessionCommand', { ...view, status: 'running' })).toContain('cmd_1 is running');
  });

  it('take input, and show what follows where somebody waits for it', async () => {
    const given = { ...names, input: 'yes' };
    const sent = await callWith('SendSessionInput', given, 'sessions.sendInput', null);
    expect(sent.asked[1]).toEqual({ sessionId: 's', commandId: 'cmd_1', input: 'yes', waitMs: 0 });
    expect(sent.result).toEqual({ ...names, sent: true });
    expect(sent.text).toBe('Sent to cmd_1.');
    const answer = { status: 'running', exitCode: null, output: 'more', nextOffset: 9 };
    const waiting = { ...given, wait_seconds: 2 };
    const followed = await callWith('SendSessionInput', waiting, 'sessions.sendInput', answer);
    expect(followed.asked[1]).toMatchObject({ waitMs: 2_000 });
    expect(followed.result).toEqual({
      ...names,
      ...{ sent: true, status: 'running', output: 'more', next_offset: 9 },
    });
    expect(followed.text).toContain('more');
    expect(followed.text).toContain('next_offset 9');
  });

  it('show in ListSessions, with their exit codes once they have ended', async () => {
    const command = { commandId: 'cmd_1', command: 'x', status: 'completed', exitCode: 0 };
    const running = { commandId: 'cmd_2', command: 'y', status: 'running', exitCode: null };
    const answer = [{ sessionId: 's', createdAtMs: 0, recentCommands: [command, running] }];
    const { result } = await callWith('ListSessions', {}, 'sessions.list', answer);
    expect(result).toEqual({
      sessions: [
        {
          ...{ session_id: 's', status: 'active', created_at: '1970-01-01T00:00:00.000Z' },
          recent_commands: [
            { command_id: 'cmd_1', command: 'x', status: 'completed', exit_code: 0 },
            { command_id: 'cmd_2', command: 'y', status: 'running' },
          ],
        },
      ],
    });
  });
});

describe('access', () => {
  it('by SSH shows its end, and null where it has none', async () => {
    const access = { host: 'h', port: 22, username: 'box', accessToken: 't', hostKey: 'k', expiresAt: 0 };
    const ends = await callWith('CreateSshAccess', { sandbox: 'box' }, 'sshAccess.create', access);
    expect(ends.result).toMatchObject({ command: 'ssh -p 22 t@h', expires_at: '1970-01-01T00:00:00.000Z' });
    const lasting = { ...access, expiresAt: null };
    const never = await callWith('CreateSshAccess', { sandbox: 'box' }, 'sshAccess.create', lasting);
    expect(never.result['expires_at']).toBeNull();
  });
});
