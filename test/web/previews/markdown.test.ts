/** Markdown in Chromium: formatted as elements, or, where its parser would take too long, shown as it is. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Opened, openPage } from '../support/open-page.ts';
import type { Visitor } from '../support/visitor.ts';

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(0);
  ({ visitor } = opened);
  const files = {
    'README.md': '# Sales\n\nSee **this** <b>tag</b>.',
    // Each mark may end the emphasis of all before it.
    'tangled.md': `${'__a_'.repeat(100_000)} end`,
    'long.md': 'word '.repeat(110_000),
    'deep.md': `${'>'.repeat(100_000)} end`,
  };
  for (const [name, content] of Object.entries(files)) {
    opened.world.tree.set(`/workspace/data/${name}`, Buffer.from(content));
  }
}, 60_000);

afterAll(() => opened?.close());

const open = (name: string) =>
  visitor.go(`/sandboxes/${opened.demo}/files?file=${encodeURIComponent(`/workspace/data/${name}`)}`);

describe('Markdown', () => {
  it.each(['tangled.md', 'long.md', 'deep.md'])(
    'of %s is shown as it is, and the page goes on',
    async (name) => {
      await open(name);
      // Found by the page's own timer, which a parser in the page would hold.
      await visitor.sees('This Markdown is too long or too complex to be formatted.');
    },
  );

  it('that is shown as it is has no fault that axe finds', async () => {
    await visitor.sees('This Markdown is too long or too complex to be formatted.');
    expect(await visitor.broken()).toEqual([]);
  });

  it('is formatted afterwards as before, with its HTML as text', async () => {
    await open('README.md');
    await visitor.page.waitForFunction(
      `document.querySelector('[aria-label="Preview of README.md"] strong')?.textContent === 'this'`,
    );
    const preview = '[aria-label="Preview of README.md"]';
    expect(await visitor.page.$eval(`${preview} h3`, (one) => one.textContent)).toBe('Sales');
    expect(await visitor.page.$eval(preview, (one) => one.textContent)).toContain('<b>tag</b>');
    expect(visitor.faults.splice(0)).toEqual([]);
  });
});
