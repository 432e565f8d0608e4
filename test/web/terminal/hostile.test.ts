/** Hostile and endless output on the built page in Chromium: it takes nothing from its visitor, and never stops the page. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inPart } from '../../deep/parts.ts';
import { type Opened, openPage } from '../support/open-page.ts';
import type { RackTerminal } from '../support/terminal-rack.ts';
import type { Visitor } from '../support/visitor.ts';

/** From 50 on the terminal itself drops what is on its way. */
const MEGABYTES = inPart('page') ? 50 : 20;

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(1);
  visitor = opened.visitor;
  const rights = ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write'] as const;
  await visitor.page.browserContext().overridePermissions(opened.url, [...rights]);
}, 60_000);

beforeEach(async () => {
  await visitor.go(`/sandboxes/${opened.demo}/terminal?terminal=main`);
  await visitor.sees('Connected.');
});

afterAll(() => opened?.close());

afterEach(() => {
  opened.world.rack.terminals.clear();
  expect(visitor.faults.splice(0)).toEqual([]);
});

const terminal = (): RackTerminal => opened.world.rack.of('main');
const shown = () => visitor.page.$eval('.xterm-rows', (rows) => rows.textContent ?? '');

/** Measures in the page how long its event loop was held at most. */
const watch = () =>
  visitor.page.evaluate(`{
    let last = performance.now();
    globalThis.longestMs = 0;
    globalThis.ticks = 0;
    clearInterval(globalThis.watching);
    globalThis.watching = setInterval(() => {
      const now = performance.now();
      globalThis.longestMs = Math.max(globalThis.longestMs, now - last);
      globalThis.ticks += 1;
      last = now;
    }, 100);
  }`);
const longestMs = async () => Number(await visitor.page.evaluate('globalThis.longestMs'));

describe('a hostile program', () => {
  it('sets neither the clipboard, nor the title, nor a link', async () => {
    await visitor.page.evaluate(`navigator.clipboard.writeText('mine')`);
    terminal().print(
      '\x1b]52;c;dGFrZW4=\x07\x1b]0;taken\x07\x1b]8;;https://evil.example\x07click here\x1b]8;;\x07 done',
    );
    await expect.poll(shown).toContain('click here done');
    expect(await visitor.page.evaluate('navigator.clipboard.readText()')).toBe('mine');
    expect(await visitor.page.title()).toBe('demo · Sandhaven');
    await visitor.page.locator('.xterm-screen').click({ offset: { x: 20, y: 8 } });
    expect(await visitor.page.$$eval('.xterm a', (links) => links.length)).toBe(0);
    expect(await opened.browser.pages()).toHaveLength(2);
  });

  it('makes no elements of what it prints', async () => {
    terminal().print('<img src=x onerror=document.title=1><b>bold</b>');
    await expect.poll(shown).toContain('<img src=x onerror=document.title=1><b>bold</b>');
    expect(await visitor.page.$$eval('.xterm img, .xterm b', (found) => found.length)).toBe(0);
  });

  it('is answered a few times, not a hundred thousand times', async () => {
    terminal().print(`${'\x1b[c'.repeat(100_000)}done`);
    await expect.poll(shown).toContain('done');
    expect(terminal().typed.length / '\x1b[?1;2c'.length).toBeLessThan(2_000);
  });

  it.each([
    ['resets', '\x1bc'],
    ['fillings of the screen', '\x1b#8'],
    ['changes of the screen', '\x1b[?1049h\x1b[?1049l'],
    ['insertions', '\x1b[20L'],
    ['repetitions', 'x\x1b[80b'],
    ['marks', 'e\u0301\u0301\u0301\u0301'],
  ])('does not hold the page by %s', { timeout: 120_000 }, async (_what, sequence) => {
    await watch();
    await terminal().pour(Buffer.from(sequence.repeat(Math.ceil(16_384 / sequence.length))), 16);
    terminal().print('\x1b[?1049l\x1b[H\r\nall done\r\n');
    await expect.poll(shown, { timeout: 90_000 }).toContain('all done');
    expect(await longestMs()).toBeLessThan(2_000);
  });
});

describe(`${MEGABYTES} MB of output`, () => {
  it('leave the page at hand, and memory as it was', { timeout: 180_000 }, async () => {
    const line = `${'0123456789'.repeat(7)} \x1b[3${1}mcolour\x1b[0m\r\n`;
    const piece = Buffer.from(line.repeat(Math.ceil(65_536 / line.length)));
    await watch();
    const poured = terminal().pour(piece, Math.ceil((MEGABYTES * 1_000_000) / piece.length));
    // A visitor works on meanwhile.
    await visitor.page.keyboard.type('q');
    await expect.poll(() => terminal().typed).toContain('q');
    await poured;
    terminal().print('all done');
    await expect.poll(shown, { timeout: 30_000 }).toContain('all done');
    expect(await longestMs()).toBeLessThan(1_000);
    expect(Number(await visitor.page.evaluate('globalThis.ticks'))).toBeGreaterThan(5);
    const { JSHeapUsedSize = 0 } = await visitor.page.metrics();
    expect(JSHeapUsedSize).toBeLessThan(200_000_000);
  });

  it('are cut by the service where the page cannot keep up, and the page says so', async () => {
    for (const { sink } of terminal().looks) sink.skipped(12_345_678);
    await visitor.sees('11.8 MB of output are skipped: this page could not keep up.');
  });
});
