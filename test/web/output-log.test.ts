/** The last of a process's output, as the page keeps it. */
import { describe, expect, it } from 'vitest';
import { OutputLog } from '../../web/src/sandbox/processes/output-log.ts';

const nothing = { output: '', stdout: '', stderr: '' };

describe('the output of a process', () => {
  it('has both streams together, and each by itself', () => {
    const log = new OutputLog();
    expect(log.shown()).toMatchObject({ text: nothing, forgottenBytes: 0, end: undefined, error: undefined });
    log.add('stdout', 'a\n', 0);
    log.add('stderr', 'b\n', 0);
    log.add('stdout', 'c\n', 0);
    expect(log.shown().text).toEqual({ output: 'a\nb\nc\n', stdout: 'a\nc\n', stderr: 'b\n' });
  });

  it('begins anew after a gap, and counts what is missing', () => {
    const log = new OutputLog();
    log.add('stdout', 'first', 7);
    log.add('stderr', 'second', 0);
    expect(log.shown()).toMatchObject({ text: { output: 'firstsecond' }, forgottenBytes: 7 });
    log.add('stdout', 'third', 12);
    expect(log.shown()).toMatchObject({
      ...{ text: { output: 'third', stdout: 'third', stderr: '' }, forgottenBytes: 19 },
    });
  });

  it('shows the last 500,000 characters of each, however small its pieces', () => {
    const log = new OutputLog();
    log.add('stderr', 'old', 0);
    log.add('stderr', 'e'.repeat(499_997), 0);
    for (let piece = 0; piece < 300; piece++) log.add('stdout', `${'o'.repeat(9_999)}\n`, 0);
    const { output, stdout, stderr } = log.shown().text;
    expect([output.length, stdout.length, stderr.length]).toEqual([500_000, 500_000, 500_000]);
    expect(stderr.startsWith('old')).toBe(true);
    log.add('stderr', '!', 0);
    expect(log.shown().text.stderr).toBe(`ld${'e'.repeat(499_997)}!`);
    expect(log.shown().text.output.endsWith('o\n!')).toBe(true);
  });
});
