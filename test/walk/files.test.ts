/** Files of a real sandbox: uploaded, edited, found, renamed, shown. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { launchBrowser } from './support/browsers.ts';
import { faultsOf, takePicture } from './support/looks.ts';
import { type Walker, walkerOf } from './support/walker.ts';

let browser: Browser;
let walker: Walker;
let sandbox: string;

beforeAll(async () => {
  browser = await launchBrowser();
  walker = await walkerOf(browser, inject('sharedService'), 'Files');
  ({ id: sandbox } = await walker.sdk.createSandbox({ name: 'files', cpu: 1, memory_gb: 1, disk_gb: 1 }));
  await write('src/main.py', 'import json\n\nprint(json.dumps({"hello": 1}))\n');
  await write('data/sales.csv', 'month,region,eur\n2026-01,north,1200\n2026-02,"south, west",900\n');
  await write('README.md', '# Sales\n\nA **bold** word.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n');
  await write('work.ipynb', JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [NOTES] }));
  const draw =
    "import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as p; p.plot([1, 2]); p.savefig('/workspace/line.png')";
  await walker.sdk.runCommand({ sandbox, command: `python3 -c "${draw}"` });
});

afterAll(async () => {
  await walker?.close();
  await browser?.close();
});

const NOTES = { cell_type: 'markdown', metadata: {}, source: ['# Notes of a run'] };
const write = (path: string, content: string) => walker.sdk.writeFile({ sandbox, path, content });
const read = async (path: string) => (await walker.sdk.readFile({ sandbox, path })).content;
const at = (file = '') => `/sandboxes/${sandbox}/files${file && `?file=/workspace/${file}`}`;

/** On the folder data. */
async function drop(...names: string[]): Promise<void> {
  const dataTransfer = await walker.page.evaluateHandle(
    `(() => { const made = new DataTransfer(); for (const name of ${JSON.stringify(names)})
      made.items.add(new File(['dropped'], name)); return made; })()`,
  );
  const folder = walker.page
    .getByRole('listitem')
    .filter({ has: walker.page.getByTitle('data', { exact: true }) });
  for (const type of ['dragover', 'drop']) await folder.dispatchEvent(type, { dataTransfer });
}

const dropped = (name: string) => expect.poll(() => read(`data/${name}`).catch(() => '')).toBe('dropped');

describe('the tree', () => {
  it('takes files that are dropped on a folder', async () => {
    await walker.go(at());
    await walker.sees('README.md');
    await drop('note.txt');
    await dropped('note.txt');
  });

  it('sends three files at once, and none that is cancelled while it waits', async () => {
    const sent: string[] = [];
    const begin = Promise.withResolvers<void>();
    onTestFinished(() => walker.page.unroute('**/files?path=*'));
    await walker.page.route('**/files?path=*', async (route) => {
      sent.push(new URL(route.request().url()).searchParams.get('path')?.split('/').at(-1) ?? '');
      await begin.promise;
      await route.continue();
    });
    await drop('a', 'b', 'c', 'd', 'e');
    await walker.click('Cancel d');
    expect(sent.toSorted()).toEqual(['a', 'b', 'c']);
    begin.resolve();
    await dropped('e');
    expect(sent.toSorted()).toEqual(['a', 'b', 'c', 'e']);
  });

  it('takes a file that is chosen, and replaces another only when that is confirmed', async () => {
    const choosing = walker.page.waitForEvent('filechooser');
    await walker.click('Upload');
    await (await choosing).setFiles({
      ...{ name: 'README.md', mimeType: 'text/markdown', buffer: Buffer.from('# New\n') },
    });
    await walker.sees('Replace 1 file?');
    expect(await faultsOf(walker.page)).toEqual([]);
    expect(await read('README.md')).toContain('# Sales');
    await walker.confirm('Cancel');
  });

  it('makes a folder and a file, renames one, and deletes it after a question', async () => {
    await walker.click('New');
    await walker.choose('Folder');
    await walker.fill('Name', 'made');
    await walker.confirm('Create');
    await walker.page.getByTitle('made').waitFor();
    await walker.click('Actions on work.ipynb');
    await walker.choose('Rename');
    await walker.fill('Name', 'notes.ipynb');
    await walker.confirm('Rename');
    await walker.page.getByTitle('notes.ipynb').waitFor();
    expect(await read('notes.ipynb')).toContain('# Notes');
    await walker.click('Actions on made');
    await walker.choose('Delete');
    await walker.sees('The folder /workspace/made and everything in it are lost for good.');
    await walker.confirm('Delete the folder');
    await walker.sees('made deleted');
    const { files } = await walker.sdk.listFiles({ sandbox });
    expect(files.map(({ name }) => name).toSorted()).toEqual([
      ...['README.md', 'data', 'line.png', 'notes.ipynb', 'src'],
    ]);
  });
});

describe('a file', () => {
  it('is found by its content, and opened at the line', async () => {
    await walker.go(at());
    await walker.page.getByText('Search', { exact: true }).click();
    await walker.fill('Expression', 'json.dumps');
    await walker.page.keyboard.press('Enter');
    await walker.page.getByRole('button', { name: /json\.dumps/ }).click();
    await walker.page.locator('.cm-activeLine').getByText('dumps').waitFor();
    expect(new URL(walker.page.url()).searchParams.get('line')).toBe('3');
  });

  it('is edited, and saved by the keyboard', async () => {
    await walker.go(at('src/main.py'));
    await walker.page.locator('.cm-content').click();
    await walker.page.keyboard.press('Control+Home');
    await walker.page.keyboard.type('# first\n');
    await walker.sees('unsaved');
    await walker.page.keyboard.press('Control+s');
    await walker.sees('main.py saved');
    expect(await read('src/main.py')).toBe('# first\nimport json\n\nprint(json.dumps({"hello": 1}))\n');
    expect(await faultsOf(walker.page)).toEqual([]);
  });

  it('asks before it replaces what a program has written meanwhile', async () => {
    await walker.sdk.runCommand({ sandbox, command: 'echo "# second" >> src/main.py' });
    await walker.page.locator('.cm-content').click();
    await walker.page.keyboard.type('x');
    await walker.page.keyboard.press('Control+s');
    await walker.sees('main.py was changed meanwhile');
    await walker.confirm('Cancel');
    expect(await read('src/main.py')).toContain('# second');
  });

  it.each([
    ['data/sales.csv', 'south, west'],
    ['README.md', 'A bold word.'],
    ['notes.ipynb', 'Notes of a run'],
  ])('%s is shown as what it is', async (file, text) => {
    await walker.go(at(file));
    await walker.sees(text);
    expect(await faultsOf(walker.page)).toEqual([]);
    await takePicture(walker.page, `preview-${file.split('.').at(-1)}`);
  });

  it('that is an image is shown as one', async () => {
    await walker.go(at('line.png'));
    const image = walker.page.frameLocator('iframe').locator('img');
    await expect.poll(() => image.evaluate((one) => 'naturalWidth' in one && one.naturalWidth)).toBe(640);
    expect(await faultsOf(walker.page)).toEqual([]);
    await takePicture(walker.page, 'preview-png');
  });
});
