/** Files that the page gives the browser to save. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserName, downloadsPath } from './browsers.ts';

/** Returns the text of the file that is saved by `save`. */
export async function savedText(page: Page, save: () => Promise<void>): Promise<string> {
  if (browserName === 'firefox') return savedByFirefox(save);
  const saving = page.waitForEvent('download');
  await save();
  return readFile(await (await saving).path(), 'utf8');
}

/** Playwright hears of no download of this Firefox, which writes a part beside an empty file, and puts it in its place. */
async function savedByFirefox(save: () => Promise<void>): Promise<string> {
  const before = await names();
  await save();
  const saved = async () => {
    const added = (await names()).filter((name) => !before.includes(name));
    const [name = ''] = added;
    return added.length === 1 ? readFile(join(downloadsPath, name), 'utf8') : '';
  };
  await expect.poll(saved).not.toBe('');
  return saved();
}

function names(): Promise<string[]> {
  return readdir(downloadsPath).catch(() => []);
}
