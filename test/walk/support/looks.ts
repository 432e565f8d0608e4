/** Looks at a screen: accessibility by axe, width, and pictures that are kept as artefacts. */
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inPart } from '../../deep/parts.ts';
import { brokenRules } from '../../web/support/accessibility.ts';
import { browserName } from './browsers.ts';

const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');

/** Pictures are a third of the time of a look. */
const keepsPictures = process.env['SANDHAVEN_ARTEFACTS'] !== undefined || inPart('page');

/** Each run writes over the pictures of the one before. */
const pictures = join(process.env['SANDHAVEN_ARTEFACTS'] ?? join(cache, 'sandhaven'), 'walk', browserName);

/** Rules that the screen breaks now, each with the element, and a width that needs scrolling sideways. */
export async function faultsOf(page: Page): Promise<string[]> {
  const broken = await brokenRules(page);
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...broken, ...(isWide ? ['wider than the window'] : [])];
}

export async function takePicture(page: Page, name: string): Promise<void> {
  if (!keepsPictures) return;
  await mkdir(pictures, { recursive: true });
  await page.evaluate('window.isPictured = true');
  await page.screenshot({ path: join(pictures, `${name}.png`) });
  await page.evaluate('window.isPictured = false');
}
