/** Terminals on the built page in Chromium: keys, tabs, the clipboard, the way out, and a connection that is lost. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { API_KEY } from '../../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from '../support/open-page.ts';
import type { RackTerminal } from '../support/terminal-rack.ts';
import { type Visitor, visit } from '../support/visitor.ts';

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(1);
  visitor = opened.visitor;
}, 60_000);

beforeEach(() => open('main'));

afterAll(() => opened?.close());

afterEach(() => {
  opened.world.rack.terminals.clear();
  expect(visitor.faults.splice(0)).toEqual([]);
});

async function open(name: string): Promise<void> {
  await visitor.go(`/sandboxes/${opened.demo}/terminal?terminal=${name}`);
  await visitor.sees('Connected.');
}

const terminal = (id = 'main'): RackTerminal => opened.world.rack.of(id);
const shown = () => visitor.page.$eval('.xterm-rows', (rows) => rows.textContent ?? '');
const typed = (id = 'main') => terminal(id).typed;
const focused = () => visitor.page.evaluate('document.activeElement.className || document.activeElement.id');

/** @param text Expression in the page. */
async function paste(text: string): Promise<void> {
  await visitor.page.evaluate(`{
    const data = new DataTransfer();
    data.setData('text/plain', ${text});
    document.querySelector('.xterm-helper-textarea').dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }`);
}

async function chord(...keys: string[]): Promise<void> {
  const held = keys.slice(0, -1);
  for (const key of held) await visitor.page.keyboard.down(key as never);
  await visitor.page.keyboard.press(keys.at(-1) as never);
  for (const key of held.toReversed()) await visitor.page.keyboard.up(key as never);
}

describe('a terminal on the page', () => {
  it('shows what is printed in its colours, and sends what is typed', async () => {
    terminal().print('\x1b[38;2;200;40;40mred\x1b[0m and \x1b[1;32mgreen\x1b[0m\r\n$ ');
    await expect.poll(shown).toContain('red and green');
    const colour = await visitor.page.$$eval('.xterm-rows span', (spans) =>
      spans.filter(({ textContent }) => textContent === 'red').map((span) => span.getAttribute('style')),
    );
    expect(colour[0]).toMatch(/color/);
    await visitor.page.keyboard.type('ls -l\n');
    await visitor.page.keyboard.press('Tab');
    await chord('Control', 'c');
    await expect.poll(() => typed()).toBe('ls -l\r\t\x03');
  });

  it('has the size of its place, and follows it', async () => {
    const before = terminal().size;
    expect(before.columns).toBeGreaterThan(80);
    await visitor.page.setViewport({ width: 360, height: 800 });
    await expect.poll(() => terminal().size.columns).toBeLessThan(60);
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await visitor.page.setViewport({ width: 1280, height: 800 });
    await expect.poll(() => terminal().size.columns).toBe(before.columns);
  });

  it('goes on when the page is left, and is found again as it was', async () => {
    terminal().print('kept line\r\n');
    await visitor.go('/health');
    await expect.poll(() => terminal().looks.size, { timeout: 10_000 }).toBe(0);
    terminal().print('printed meanwhile\r\n');
    await visitor.go(`/sandboxes/${opened.demo}/terminal`);
    await expect.poll(shown).toMatch(/kept line.*printed meanwhile/);
  });

  it('is one of several, by name, each of its user', async () => {
    await visitor.click('New');
    await visitor.fill('Name', 'build');
    await visitor.fill('User', 'ann');
    await visitor.page.keyboard.press('Enter');
    await expect.poll(() => opened.world.rack.terminals.size).toBe(2);
    await expect.poll(() => terminal('build').looks.size).toBe(1);
    expect([terminal().user, terminal('build').user]).toEqual([undefined, 'ann']);
    expect(terminal().looks.size).toBe(0);
    terminal('build').print('in build');
    await expect.poll(shown).toContain('in build');
    expect(await visitor.broken()).toEqual([]);
    await chord('Control', 'Shift', 'O');
    await visitor.page.keyboard.press('ArrowLeft');
    await expect.poll(() => terminal().looks.size).toBe(1);
  });

  it('is ended after a question that names its program', async () => {
    Object.assign(terminal(), { program: 'vim', busy: true });
    await visitor.click('End');
    await visitor.sees('vim runs in it. Ending the terminal loses its unsaved work.');
    expect(opened.world.rack.terminals.size).toBe(1);
    await visitor.click('End the terminal');
    await visitor.sees('No terminal is open');
    expect(opened.world.rack.terminals.size).toBe(0);
  });

  it('says how its shell has ended, and is opened again', async () => {
    terminal().exit(7);
    await visitor.sees('The shell has ended with status 7.');
    await visitor.click('Open it again');
    await visitor.sees('Connected.');
    expect(opened.world.rack.terminals.size).toBe(1);
  });
});

describe('the keyboard', () => {
  it('leaves the terminal by the keys that the page names', async () => {
    await visitor.sees('Ctrl+Shift+O leaves the terminal');
    await expect.poll(focused).toContain('xterm-helper-textarea');
    await chord('Control', 'Shift', 'O');
    expect(await visitor.page.evaluate('document.activeElement.id')).toBe('terminal-tab-main');
    expect(typed()).toBe('');
  });

  it('copies what is selected, and is the interrupt where nothing is', async () => {
    await visitor.page
      .browserContext()
      .overridePermissions(opened.url, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
    terminal().print('picked');
    await expect.poll(shown).toContain('picked');
    await visitor.page.locator('.xterm-screen').click({ count: 2, offset: { x: 12, y: 8 } });
    await chord('Control', 'c');
    await expect.poll(() => visitor.page.evaluate('navigator.clipboard.readText()')).toBe('picked');
    await chord('Control', 'c');
    await expect.poll(() => typed()).toBe('\x03');
  });

  it('pastes text without control characters', async () => {
    terminal().print('\x1b[?2004hready');
    await expect.poll(shown).toContain('ready');
    await paste(`'one\\n\\x1b[201~two'`);
    await expect.poll(() => typed()).toBe('\x1b[200~one\r[201~two\x1b[201~');
  });

  it('pastes no text that is a file by its length, and says so', async () => {
    await paste(`'x'.repeat(1_000_001)`);
    await visitor.sees('Nothing was pasted: the text is too long. Upload it as a file.');
    await visitor.page.keyboard.type('q');
    await expect.poll(() => typed()).toBe('q');
  });

  it('has on the screen what touch lacks', async () => {
    await visitor.click('Esc');
    await visitor.click('Arrow up');
    await visitor.click('Ctrl');
    await visitor.page.keyboard.type('dx');
    await expect.poll(() => typed()).toBe('\x1b\x1b[A\x04x');
  });
});

describe('a lost connection', () => {
  it('is made again, and says that nothing is skipped', async () => {
    terminal().print('before\r\n');
    for (const { lose } of terminal().looks) lose(new Error('gone'));
    await visitor.sees('The connection is lost');
    terminal().print('meanwhile\r\n');
    await visitor.sees('Reconnected: no output is missing.');
    await expect.poll(shown).toMatch(/before.*meanwhile/);
    expect((await shown()).match(/before/g)).toHaveLength(1);
  });

  it('says what is skipped when more was printed than is kept', async () => {
    for (const { lose } of terminal().looks) lose(new Error('gone'));
    await visitor.sees('The connection is lost');
    terminal().print(Buffer.alloc(300_000, 'x\r\n'));
    await visitor.sees('Reconnected: the last 256 KB are shown, earlier output is skipped.');
  });

  it('is the end where the terminal is gone', async () => {
    const { looks } = terminal();
    opened.world.rack.terminals.clear();
    for (const { lose } of looks) lose(new Error('gone'));
    await visitor.sees('This terminal has ended meanwhile.');
  });
});

describe('a stopped sandbox', () => {
  it('is started first', async () => {
    const sandbox = opened.world.sandboxes.get(opened.demo);
    Object.assign(sandbox ?? {}, { state: 'stopped' });
    opened.world.rack.terminals.clear();
    await visitor.go(`/sandboxes/${opened.demo}/terminal`);
    await visitor.sees('Terminals can be seen while the sandbox runs');
    await visitor.click('Start it');
    await visitor.sees('No terminal is open');
  });
});

describe('a sign-in that may write nothing', () => {
  it('gets the reason, and no attempt after another', async () => {
    const made = await fetch(`${opened.url}/v1/admin/CreateKey`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'reads', scopes: ['sandboxes:read', 'account'] }),
    });
    const { api_key } = (await made.json()) as { api_key: string };
    const reader = await visit(opened.browser, opened.url);
    await reader.signIn(api_key);
    await reader.sees('demo');
    await reader.go(`/sandboxes/${opened.demo}/terminal?terminal=main`);
    await reader.sees('Not connected');
    await reader.sees('sandboxes:write');
    expect(terminal().looks.size).toBe(1);
    expect(reader.faults).toEqual([]);
    await reader.page.close();
  });
});
