/** A notebook in Chromium, with a chart, a traceback, and all that its author would like the page to run. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Opened, openPage } from '../support/open-page.ts';
import type { Visitor } from '../support/visitor.ts';
import { PNG } from '../support/world.ts';

const ATTACK = '<img src="https://evil.example/x.png" onerror="document.title = \'taken\'">';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title = \'taken\'"/>';

const display = (data: object) => ({ output_type: 'display_data', metadata: {}, data });

const SALES = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { title: ATTACK },
  cells: [
    {
      cell_type: 'markdown',
      source: [
        '# Sales\n\n',
        `A **bold** word, ${ATTACK}, [bad](javascript:alert(1)), [good](https://example.org), `,
        '![plot](attachment:plot.png), ![far](https://evil.example/far.png)\n',
      ],
      attachments: { 'plot.png': { 'image/png': PNG } },
    },
    {
      cell_type: 'code',
      execution_count: 7,
      source: 'plot(sales)',
      outputs: [
        { output_type: 'stream', name: 'stdout', text: '10 %\r100 %\n' },
        display({ 'image/png': PNG, 'text/plain': '<Figure size 8x8>' }),
        display({ 'text/html': `<h3>Taken</h3>${ATTACK}`, 'text/plain': '   month  eur' }),
        display({ 'text/html': `<script>document.title = 'taken'</script>` }),
        display({ 'application/javascript': 'document.title = "taken"' }),
        display({ 'image/png': Buffer.from(SVG).toString('base64') }),
        display({ 'image/png': Buffer.from(PNG, 'base64').subarray(0, 20).toString('base64') }),
        display({ 'text/markdown': `*slanted* ${ATTACK}` }),
        { output_type: 'stream', name: 'stderr', text: 'careful' },
        {
          output_type: 'error',
          ename: 'ValueError',
          evalue: 'too small',
          traceback: ['\u001b[0;31mValueError\u001b[0m: too small', ATTACK],
        },
      ],
    },
    { cell_type: 'raw', source: `raw ${ATTACK}` },
  ],
};

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(0);
  ({ visitor } = opened);
  // A page with unsaved changes asks before it is left.
  visitor.page.on('dialog', (dialog) => void dialog.accept());
  const files = {
    'sales.ipynb': JSON.stringify(SALES),
    'old.ipynb': '{"nbformat": 3, "worksheets": []}',
    'deep.ipynb': JSON.stringify({
      nbformat: 4,
      cells: [{ cell_type: 'markdown', source: '>'.repeat(10_000) }, 'kept'],
    }),
    'large.ipynb': JSON.stringify({ ...SALES, metadata: 'x'.repeat(2_097_152) }),
  };
  for (const [name, content] of Object.entries(files)) {
    opened.world.tree.set(`/workspace/data/${name}`, Buffer.from(content));
  }
}, 60_000);

afterAll(() => opened?.close());

afterEach(() => {
  expect(visitor.faults.splice(0)).toEqual([]);
});

const open = (name: string) =>
  visitor.go(`/sandboxes/${opened.demo}/files?file=${encodeURIComponent(`/workspace/data/${name}`)}`);

const PREVIEW = '[aria-label="Preview of sales.ipynb"]';

describe('a notebook', () => {
  it('shows its text, its code with the count, its chart and its traceback', async () => {
    await open('sales.ipynb');
    await visitor.sees('ValueError: too small');
    await visitor.page.waitForFunction(
      `document.querySelector('${PREVIEW} img[alt="<Figure size 8x8>"]')?.naturalWidth === 8`,
    );
    const text = await visitor.page.$eval(PREVIEW, (preview) => preview.textContent);
    for (const part of ['Sales', '[7]', 'plot(sales)', '   month  eur', 'careful', 'This image is damaged.'])
      expect(text).toContain(part);
    expect(text).not.toContain('10 %\r');
    expect(await visitor.page.$eval(`${PREVIEW} strong`, (one) => one.textContent)).toBe('bold');
    expect(await visitor.page.$eval(`${PREVIEW} em`, (one) => one.textContent)).toBe('slanted');
  });

  it('makes no element, no link and no request of what is hostile', async () => {
    await open('sales.ipynb');
    await visitor.sees('An output is not shown: the preview shows nothing of text/html.');
    await visitor.sees('An output is not shown: the preview shows nothing of application/javascript.');
    await visitor.sees('An image (image/png) is not shown: its bytes are neither PNG nor JPEG.');
    await visitor.sees('This image is damaged.');
    const found = await visitor.page.$eval(PREVIEW, (preview) => ({
      images: [...preview.querySelectorAll('img')].map((one) => one.src.replace(/:.*/, '')),
      links: [...preview.querySelectorAll('a')].map((one) => one.href),
      others: preview.querySelectorAll('script, svg, iframe, object, embed, style, link, h3 + h3').length,
      shown: preview.textContent,
    }));
    expect(found).toMatchObject({ images: ['blob'], links: ['https://example.org/'], others: 0 });
    expect(found.shown).toContain('[image: plot]');
    expect(found.shown.split(ATTACK)).toHaveLength(5);
    expect(found.shown).not.toContain('<h3>Taken</h3>');
    expect(await visitor.page.title()).toBe('demo · Sandhaven');
  });

  it('has no fault that axe finds at 360 px, dark', async () => {
    await visitor.page.setViewport({ width: 360, height: 800 });
    await visitor.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await open('sales.ipynb');
    await visitor.sees('This image is damaged.');
    expect(await visitor.broken()).toEqual([]);
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  });

  it('is edited as text, and shown as it was edited', async () => {
    await visitor.page.setViewport({ width: 1280, height: 800 });
    await open('sales.ipynb');
    const choose = (name: string) => visitor.page.locator(`label ::-p-text(${name})`).click();
    await choose('Edit');
    await visitor.page.locator('>>> .cm-content').click();
    await visitor.page.keyboard.down('Control');
    await visitor.page.keyboard.press('a');
    await visitor.page.keyboard.up('Control');
    await visitor.page.keyboard.type('broken');
    await choose('Preview');
    await visitor.sees('This notebook is broken');
  });
});

describe('a notebook that cannot be shown', () => {
  it('says why, and leads to its text with the keyboard', async () => {
    await open('old.ipynb');
    await visitor.sees('This notebook has format 3; the preview shows format 4');
    expect(await visitor.broken()).toEqual([]);
    await visitor.page.locator('::-p-aria([name="Show the text"][role="button"])').wait();
    await visitor.page.focus('[aria-label="Preview of old.ipynb"] button');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForSelector('>>> .cm-content ::-p-text(worksheets)');
  });

  it('is too large, or its first part is text', async () => {
    await open('large.ipynb');
    await visitor.sees('This notebook is too large to show');
    await visitor.click('Show the text');
    await visitor.sees('the first part, read-only');
  });

  it('holds Markdown that is too deep for its parser', async () => {
    await open('deep.ipynb');
    await visitor.sees('>>>>>>>>');
    await visitor.sees('A cell of an unknown kind is not shown.');
  });
});
