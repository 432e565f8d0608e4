/** The page's terminal over a real service and a real sandbox, in Chromium: editors, whole screens, endless output. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inPart } from '../../deep/parts.ts';
import { must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';
import { launch, type Visitor, visit } from '../../web/support/visitor.ts';
import { packPrograms } from './host-programs.ts';

let service: SharedService;
let sandbox: string;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  service = await sharedService();
  sandbox = String((await must(service, 'CreateSandbox', { memory_gb: 1, disk_gb: 1 }))['id']);
  browser = await launch();
  visitor = await visit(browser, service.url);
  await visitor.signIn(service.apiKey);
  await visitor.sees('Sandboxes');
});

/** Each test has a terminal of its own. */
let opened = 0;

beforeEach(async () => {
  opened += 1;
  await visitor.go(`/sandboxes/${sandbox}/terminal?terminal=test-${opened}`);
  await visitor.sees('Connected.');
  await visitor.page.waitForSelector('.xterm-helper-textarea');
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/** The part `page` of `make test-deep` prints more, and runs more programs. */
const OUTPUT_BYTES = inPart('page') ? 50_000_000 : 10_000_000;
const PATIENCE = { timeout: 40_000, interval: 200 };

const shown = () => visitor.page.$$eval('.xterm-rows > div', (rows) => rows.map((row) => row.textContent));
const sees = (text: RegExp, patience = PATIENCE) =>
  expect.poll(async () => (await shown()).join('\n').replaceAll('\u00a0', ' '), patience).toMatch(text);
const type = (text: string) => visitor.page.keyboard.type(text);

async function ctrl(key: 'b' | 'c' | 'o' | 'x'): Promise<void> {
  await visitor.page.keyboard.down('Control');
  await visitor.page.keyboard.press(key);
  await visitor.page.keyboard.up('Control');
}

async function prompt(): Promise<void> {
  await type('clear; echo re""ady\n');
  await sees(/^ready/m);
}

describe('the terminal of the page', { timeout: 180_000 }, () => {
  it('is a shell, with the size of its place', async () => {
    await prompt();
    await type('echo "size $(stty size)"\n');
    await sees(/^size [1-9]\d* [1-9]\d*/m);
    expect(visitor.faults).toEqual([]);
  });

  it('runs an editor, which saves what was typed', async () => {
    await prompt();
    await type('nano note.txt\n');
    await sees(/GNU nano/);
    await type('written on the page');
    await sees(/written on the page/);
    await ctrl('o');
    await sees(/Write to File/);
    await visitor.page.keyboard.press('Enter');
    await sees(/Wrote 1 line/);
    await ctrl('x');
    await prompt();
    const read = await must(service, 'RunCommand', { sandbox, command: 'cat /workspace/note.txt' });
    expect(read['stdout']).toBe('written on the page\n');
  });

  it('shows a program on the whole screen, again after a reload, and the shell after its end', async () => {
    await prompt();
    await type('kept=value; top -d 1\n');
    await sees(/load average/);
    await visitor.page.reload();
    await visitor.sees('Connected.');
    await sees(/load average/);
    await type('q');
    // It drops what is typed before it has ended.
    await sees(/\/workspace#\s*$/m);
    await prompt();
    await type('echo "kept $kept"\n');
    await sees(/^kept value/m);
  });

  it('takes megabytes of output, and interrupts, without holding the page for a second', async () => {
    await prompt();
    await visitor.page.evaluate(`{
      let last = performance.now();
      globalThis.longestMs = 0;
      setInterval(() => {
        const now = performance.now();
        globalThis.longestMs = Math.max(globalThis.longestMs, now - last);
        last = now;
      }, 100);
    }`);
    await type(`yes '0123456789 abcdefghij \\e[31mred' | head -c ${OUTPUT_BYTES}; echo; echo al''l-shown\n`);
    await sees(/all-shown/);
    await type('yes endless\n');
    await sees(/endless\n/);
    await ctrl('c');
    await prompt();
    const longestMs = Number(await visitor.page.evaluate('globalThis.longestMs'));
    console.info(`the event loop of the page was held for ${longestMs.toFixed(0)} ms at most`);
    expect(longestMs).toBeLessThan(1_000);
  });

  it('echoes each key', async () => {
    await prompt();
    await type('stty raw -echo; exec cat\n');
    await visitor.page.evaluate(`{
      let pressed = null;
      globalThis.echoes = [];
      document.addEventListener('keydown', () => { pressed = performance.now(); }, { capture: true });
      new MutationObserver(() => {
        if (pressed === null) return;
        globalThis.echoes.push(performance.now() - pressed);
        pressed = null;
      }).observe(document.querySelector('.xterm-rows'), { childList: true, subtree: true, characterData: true });
    }`);
    const keys = 'abcdefghijklmnopqrstuvwxyz0123456789';
    for (const [place, key] of [...keys].entries()) {
      await type(key);
      await sees(new RegExp(keys.slice(0, place + 1)), { ...PATIENCE, interval: 30 });
    }
    const echoes = (await visitor.page.evaluate('globalThis.echoes')) as number[];
    const sorted = echoes.toSorted((a, b) => a - b);
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    console.info(`a key on the screen: median ${at(0.5)} ms, p95 ${at(0.95)} ms, of ${sorted.length}`);
    expect(echoes.length).toBeGreaterThan(30);
    expect(visitor.faults).toEqual([]);
  });
});

if (inPart('page'))
  describe('programs that people run all day there', { timeout: 180_000 }, () => {
    beforeAll(() => bring(['vim', 'tmux', 'htop']));

    it('runs vim, which writes what was typed in its modes', async () => {
      await type(`${WITH_PROGRAMS}\n`);
      await prompt();
      await type('vim -u NONE -N vim.txt\n');
      await sees(/"vim\.txt"/);
      await type('ifirst line\nsecond line');
      await sees(/-- INSERT --/);
      await visitor.page.keyboard.press('Escape');
      await type('ggddp:wq\n');
      await prompt();
      const read = await must(service, 'RunCommand', { sandbox, command: 'cat /workspace/vim.txt' });
      expect(read['stdout']).toBe('second line\nfirst line\n');
    });

    it('runs tmux, whose panes are there again after a reload', async () => {
      await type(`${WITH_PROGRAMS}\n`);
      await prompt();
      await type('tmux -f /dev/null\n');
      await sees(/\[0\] 0:/);
      await type('echo "pane o""ne"\n');
      await sees(/^pane one/m);
      await ctrl('b');
      await type('"');
      await sees(/─{20}/);
      await type('echo "pane t""wo"\n');
      await sees(/^pane two/m);
      await visitor.page.reload();
      await visitor.sees('Connected.');
      await sees(/^pane one[\s\S]*─{20}[\s\S]*^pane two/m);
      await visitor.page.waitForSelector('.xterm-helper-textarea');
      await type('tmux kill-server\n');
      await prompt();
    });

    it('runs htop, in colours, until it is left by its key', async () => {
      await type(`${WITH_PROGRAMS}\n`);
      await prompt();
      await type('htop\n');
      await sees(/Load average/);
      await sees(/F10Quit/);
      await visitor.page.keyboard.press('F10');
      await prompt();
      expect(visitor.faults).toEqual([]);
    });
  });

/** The base image has none of these. */
async function bring(programs: string[]): Promise<void> {
  const response = await fetch(`${service.url}/v1/sandboxes/${sandbox}/files?path=/tmp/programs.tar`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: new Uint8Array(packPrograms(programs)),
  });
  expect(response.ok).toBe(true);
  const unpack = 'mkdir -p /opt/host && tar -xf /tmp/programs.tar -C /opt/host && rm /tmp/programs.tar';
  const unpacked = await must(service, 'RunCommand', { sandbox, command: unpack });
  expect(unpacked['exit_code']).toBe(0);
}

const WITH_PROGRAMS = 'export LD_LIBRARY_PATH=/opt/host/lib PATH=/opt/host/bin:$PATH';
