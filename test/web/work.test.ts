/** Work on the built page in Chromium: people, snapshots, documents, the log, sessions, and files that are dropped. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';

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

describe('an admin', () => {
  it('makes a user with a quota, and disables one after a question', async () => {
    await visitor.go('/people');
    await visitor.click('New user');
    await visitor.fill('Name', 'Grace');
    await visitor.fill('Email', 'grace@example.org');
    await visitor.fill('Snapshots', '7');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('Save');
    await visitor.sees('grace@example.org');
    await visitor.sees('1 / 7');
    await visitor.click('Disable Ben');
    await visitor.sees('Their keys stop working');
    await visitor.click('Disable');
    await visitor.sees('Ben disabled');
  });

  it('verifies the log, and finds a call by its action', async () => {
    await visitor.go('/activity?action=CreateUser');
    await visitor.sees('CreateUser');
    await visitor.click('Verify');
    await visitor.sees('The log is intact');
    expect(await visitor.broken()).toEqual([]);
  });
});

describe('a snapshot', () => {
  it('is made of an image, and deleted after a question', async () => {
    await visitor.go('/snapshots');
    await visitor.click('New snapshot');
    await visitor.fill('Name', 'redis-8');
    await visitor.fill('Image', 'redis:8');
    await visitor.click('Create');
    await visitor.sees('redis:8');
    await visitor.click('Delete redis-8');
    await visitor.sees('Delete redis-8?');
    await visitor.click('Delete');
    await visitor.sees('redis-8 deleted');
  });
});

describe('documents', () => {
  it('are found by a query, once the schema is shown', async () => {
    await visitor.go('/documents');
    await visitor.page.locator('nav ::-p-text(orders)').click();
    await visitor.sees('such as Ada');
    await visitor.page.locator('label ::-p-text(Query)').click();
    await visitor.click('Run');
    await visitor.sees('2 documents, and there are more');
    await visitor.sees('Grace');
    expect(await visitor.broken()).toEqual([]);
  });
});

describe('a session', () => {
  it('runs a command and follows its log', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/sessions`);
    await visitor.click('New session');
    await visitor.fill('Command in session_1', 'npm test');
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('Nothing is printed yet.');
    expect(await visitor.broken()).toEqual([]);
  });
});

describe('files', () => {
  it('are uploaded where they are dropped', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/files`);
    await visitor.sees('README.md');
    await visitor.page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['dropped'], 'note.txt'));
      const folder = [...document.querySelectorAll('main li')].find((one) => one.innerText.startsWith('data'));
      for (const type of ['dragover', 'drop']) {
        folder.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    })()`);
    await expect.poll(() => opened.world.tree.get('/workspace/data/note.txt')?.toString()).toBe('dropped');
  });

  it('are searched, and opened at the line that was found', async () => {
    await visitor.page.locator('label ::-p-text(Search)').click();
    await visitor.fill('Expression', 'json.dumps');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.locator('button ::-p-text(print(json)').click();
    await visitor.page.waitForSelector('>>> .cm-activeLine ::-p-text(print)');
    expect(await visitor.page.evaluate('location.search')).toContain('line=3');
  });

  it('are renamed and deleted, the latter after a question', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/files`);
    await visitor.click('Actions on blob.bin');
    await visitor.page.locator('[role="menuitem"] ::-p-text(Rename)').click();
    await visitor.fill('Name', 'bytes.bin');
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('bytes.bin');
    await visitor.click('Actions on bytes.bin');
    await visitor.page.locator('[role="menuitem"] ::-p-text(Delete)').click();
    await visitor.sees('The file /workspace/bytes.bin is lost for good.');
    await visitor.click('Delete the file');
    await visitor.sees('bytes.bin deleted');
    expect(opened.world.tree.has('/workspace/bytes.bin')).toBe(false);
  });
});
