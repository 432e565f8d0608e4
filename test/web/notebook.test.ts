/** The notebook of one sandbox on the built page in Chromium. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(1);
  visitor = opened.visitor;
}, 60_000);

afterAll(() => opened?.close());

afterEach(() => {
  expect(visitor.faults.splice(0)).toEqual([]);
});

async function run(code: string): Promise<void> {
  await visitor.page.locator('>>> .cm-content').click();
  await visitor.page.keyboard.type(code);
  await visitor.click('Run the cell');
}

it('runs cells one after another, shows what they show, print and raise, and runs one again', async () => {
  await visitor.go(`/sandboxes/${opened.demo}/notebook`);
  await run('show 42 is the answer');
  await visitor.page.waitForSelector('main li ::-p-text(42 is the answer)');
  await run('print <b>hello</b>');
  await visitor.page.waitForSelector('main li:nth-child(2) ::-p-text(<b>hello</b>)');
  await run('raise what went wrong');
  await visitor.page.waitForSelector('main li:nth-child(3) ::-p-text(ValueError: what went wrong)');
  await visitor.page.locator('main li:nth-child(2) button ::-p-text(Run again)').click();
  await visitor.page.waitForSelector('main li:nth-child(2) ::-p-text(<b>hello</b>)');
  expect(await visitor.page.$$eval('main li', (all) => all.length)).toBe(3);
});

it('has no fault that axe finds, and fits into 360 px', async () => {
  await visitor.page.setViewport({ width: 360, height: 800 });
  expect(await visitor.broken()).toEqual([]);
  expect(await visitor.page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});
