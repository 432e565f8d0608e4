/** Hostile output in xterm behind the page's guard. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { guardedTerminal, type Headless, hasXterm } from '../support/xterm.ts';

let terminal: Headless;
let answers: string[];
let titles: string[];
/** The clock that the guard reads: with the machine’s own, a slow run would earn more of each ration. */
let nowMs: number;

beforeEach(async () => {
  if (!hasXterm) return;
  [answers, titles, nowMs] = [[], [], 0];
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  terminal = await guardedTerminal();
  terminal.onData((data) => void answers.push(data));
  terminal.onTitleChange((title) => void titles.push(title));
});

afterEach(() => vi.restoreAllMocks());

const print = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
const line = (row = 0) => terminal.buffer.active.getLine(row)?.translateToString(true);

describe.skipIf(!hasXterm)('a guarded terminal', () => {
  it.each([
    ['a title', '\x1b]0;taken\x07'],
    ['an icon’s name', '\x1b]1;taken\x07'],
    ['a title with a string terminator', '\x1b]2;taken\x1b\\'],
    ['the clipboard, set', '\x1b]52;c;dGFrZW4=\x07'],
    ['the clipboard, asked for', '\x1b]52;c;?\x07'],
    ['the title, asked for', '\x1b]2;rm -rf\x07\x1b[21t'],
    ['the size of the window', '\x1b[8;1000;1000t\x1b[14t\x1b[18t'],
    ['ENQ', '\x05'],
    ['the terminal’s version', '\x1b[>q'],
    ['a capability', '\x1bP+q544e\x1b\\'],
    ['keys defined by the program', '\x1bP0;1|17/726d\x1b\\'],
    ['a message to an application', '\x1b_Gf=100;AAAA\x1b\\\x1b^private\x1b\\'],
    ['a picture', '\x1b]1337;File=inline=1:AAAA\x07\x1bPq#0;2;0;0;0\x1b\\'],
    ['a notice', '\x1b]9;taken\x07\x1b]777;notify;a;b\x07'],
  ])('drops %s, and answers nothing', async (_what, text) => {
    await print(`before${text} after`);
    expect(line()).toBe('before after');
    expect([answers, titles]).toEqual([[], []]);
  });

  it('shows the text of a link, and no link', async () => {
    await print('\x1b]8;;https://evil.example\x07click\x1b]8;;\x07 here');
    expect(line()).toBe('click here');
    expect(JSON.stringify(terminal, withoutCircles())).not.toContain('evil.example');
  });

  it.each([
    ['device attributes', '\x1b[c'],
    ['other device attributes', '\x1b[>c'],
    ['the cursor’s place', '\x1b[6n'],
    ['the cursor’s place, the private way', '\x1b[?6n'],
    ['a mode', '\x1b[4$p'],
    ['a private mode', '\x1b[?25$p'],
    ['a setting', '\x1bP$qm\x1b\\'],
    ['the focus', '\x1b[?1004h'],
  ])('answers for %s, and not ten thousand times', async (_what, question) => {
    await print(question);
    expect(answers).toHaveLength(1);
    await print(question.repeat(10_000));
    expect(answers.length).toBeLessThan(500);
  });

  it.each([
    ['lines inserted', 'L'],
    ['lines deleted', 'M'],
    ['lines scrolled up', 'S'],
    ['lines scrolled down', 'T'],
    ['tabs forward', 'I'],
    ['tabs back', 'Z'],
    ['characters repeated', 'b'],
  ])('drops two thousand million %s', async (_what, final) => {
    await print(`x\x1b[2147483647${final}`);
    expect(line()).toBe('x');
  });

  it.each([
    ['resets', '\x1bc'],
    ['moves of lines', '\x1b[24L'],
  ])('is made anew by some %s, and not by the one after a thousand', async (_what, sequence) => {
    await print(`${sequence.repeat(1_000)}\x1b[Hkept${sequence}`);
    expect(line()).toBe('kept');
    nowMs = 1_000;
    await print(sequence);
    expect(line()).toBe('');
  });

  it.each([
    ['47', '\x1b[?47h\x1b[?47l'],
    ['1047', '\x1b[?1047h\x1b[?1047l'],
    ['1049', '\x1b[?1049h\x1b[?1049l'],
  ])('switches between its screens by mode %s, and not ten thousand times', async (_mode, pair) => {
    let switches = 0;
    terminal.buffer.onBufferChange(() => {
      switches += 1;
    });
    await print(pair);
    expect(switches).toBe(2);
    await print(pair.repeat(5_000));
    expect(switches).toBeLessThan(500);
  });

  it('obeys what programs on the whole screen need', async () => {
    await print('one\r\ntwo\x1b[H\x1b[1L\x1b[1;1Hnew\x1b[3;1Hx\x1b[4b');
    expect([line(0), line(1), line(2)]).toEqual(['new', 'one', 'xxxxx']);
  });

  it('keeps the marks of languages, and not thousands of them on one character', async () => {
    await print('e\u0301|');
    expect(line()).toBe('e\u0301|');
    await print(`\r\na${'\u0301'.repeat(5_000)}`);
    expect((line(1) ?? '').length).toBeLessThan(80 * 18);
  });
});

function withoutCircles() {
  const seen = new WeakSet<object>();
  return (_key: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return undefined;
    seen.add(value);
    return value;
  };
}
