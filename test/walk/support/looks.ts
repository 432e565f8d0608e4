/** Looks at a screen: accessibility by axe, width, and pictures that are kept as artefacts. */
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const root = join(import.meta.dirname, '..', '..', '..');
const axe = readFileSync(join(root, 'web', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');

/** Each run writes over the pictures of the one before. */
export const pictures = join(process.env['SANDHAVEN_ARTEFACTS'] ?? join(cache, 'sandhaven'), 'walk');

/** Colours that are on their way from one to another have no contrast of their own yet. */
const STILL = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  .then(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))
  .then(() => undefined)`;

/** Rules that the screen breaks now, each with the element, and a width that needs scrolling sideways. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(STILL);
  // By the debugger, which the page's policy does not hold; a <script> it would.
  await page.evaluate(axe);
  const options = JSON.stringify({ runOnly: standards, resultTypes: ['violations'] });
  const broken = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(broken as string[]), ...(isWide ? ['wider than the window'] : [])];
}

export async function takePicture(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
