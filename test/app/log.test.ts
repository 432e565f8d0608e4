/** The log of the service: JSON for programs, lines for a person at a terminal. */
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/log.ts';

function logTo(isTTY: boolean | undefined) {
  const written: string[] = [];
  const out = { write: (text: string) => written.push(text) > 0, ...(isTTY === undefined ? {} : { isTTY }) };
  return { log: createLog(out), written };
}

const failed = () => new Error('the disk is away', { cause: new Error('EIO') });

describe('the log', () => {
  it.each([undefined, false])('is one JSON object a line where nobody reads it as it comes: %s', (isTTY) => {
    const { log, written } = logTo(isTTY);
    log.warn('slow', { sandbox: 'sb_1', error: failed() });
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(written[0] ?? '')).toEqual({
      ...{ time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'warn', message: 'slow', sandbox: 'sb_1' },
      error: expect.objectContaining({ name: 'Error', message: 'the disk is away' }),
    });
  });

  it('is readable at a terminal', () => {
    const { log, written } = logTo(true);
    log.info('sandbox is started', { sandbox: 'sb_1', ms: 12, name: 'two words', none: undefined });
    expect(written[0]).toMatch(
      /^\d\d:\d\d:\d\d info {2}sandbox is started sandbox=sb_1 ms=12 name="two words"\n$/,
    );
  });

  it('has the trace of an error, and of a warning its message alone', () => {
    const { log, written } = logTo(true);
    log.error('work failed', { work: 'stop', error: failed() });
    log.warn('work failed', { error: failed() });
    expect(written[0]).toMatch(
      /^\S+ error work failed work=stop\n {4}Error: the disk is away\n {4} +at .*log\.test\.ts[\s\S]*\n {4}because\n {4}Error: EIO\n/,
    );
    expect(written[1]).toMatch(
      / warn {2}work failed\n {4}Error: the disk is away\n {4}because\n {4}Error: EIO\n$/,
    );
  });

  it('lets no text in it control the terminal, or look like another line', () => {
    const { log, written } = logTo(true);
    log.error('bad\n12:00:00 info  all is well', {
      ...{
        name: '\u001b]0;title\u0007\u001b[31mred',
        list: ['\u009b2J'],
        error: new Error('\r\u001b[2Jgone'),
      },
    });
    const [text = ''] = written;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text.split('\n')[0]).toContain('bad�12:00:00 info  all is well');
    expect(
      text
        .split('\n')
        .slice(1)
        .every((line) => line === '' || line.startsWith('    ')),
    ).toBe(true);
  });
});
