/** The files of one sandbox on the built page in Chromium: hostile ones, unsaved ones, and ones that are replaced. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';
import { HOSTILE_NAME } from './support/world.ts';

let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(3);
  visitor = opened.visitor;
}, 60_000);

afterAll(() => opened?.close());

afterEach(() => {
  expect(visitor.faults.splice(0)).toEqual([]);
});

describe('files', () => {
  it('have names and contents that stay text', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/files?file=%2Fworkspace%2FREADME.md`);
    await visitor.sees(HOSTILE_NAME);
    await visitor.sees('<script>document.title = "taken"</script>');
    expect(await visitor.page.title()).toBe('demo · Sandhaven');
    const links = await visitor.page.$$eval('main a[target="_blank"]', (all) =>
      all.map((one) => one.getAttribute('href')),
    );
    expect(links).toEqual(['https://example.org/']);
  });

  it('keep what was written while a preview is shown, and ask before it is lost', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/files?file=%2Fworkspace%2FREADME.md`);
    const choose = (name: string) => visitor.page.locator(`label ::-p-text(${name})`).click();
    await choose('Edit');
    await visitor.page.locator('>>> .cm-content').click();
    await visitor.page.keyboard.type('## Written now\n');
    await choose('Preview');
    await visitor.page.waitForSelector('main h4 ::-p-text(Written now)');
    await visitor.page.locator('nav ::-p-text(Git)').click();
    await visitor.sees('The changes to README.md are lost.');
    await visitor.click('Cancel');
    await choose('Edit');
    await visitor.sees('unsaved');
    await visitor.page.locator('nav ::-p-text(Git)').click();
    await visitor.click('Leave');
    await visitor.sees('Upstream');
  });

  it('are uploaded, and replace another only when that is confirmed', async () => {
    const file = join(tmpdir(), 'blob.bin');
    await writeFile(file, 'new bytes');
    await visitor.go(`/sandboxes/${opened.demo}/files`);
    await visitor.attach(file);
    await visitor.sees('Replace 1 file?');
    expect(opened.world.tree.get('/workspace/blob.bin')?.length).toBe(7);
    await visitor.click('Replace 1 file');
    await expect.poll(() => opened.world.tree.get('/workspace/blob.bin')?.toString()).toBe('new bytes');
  });
});
