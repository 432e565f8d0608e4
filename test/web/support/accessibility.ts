/** Rules of accessibility that a page breaks, as axe finds them, in whatever browser a test drives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of a browser's page that both drivers have. It is none of the page's own scripts, which its policy holds. */
interface Evaluating {
  evaluate(script: string): Promise<unknown>;
}

const axe = readFileSync(
  join(import.meta.dirname, '..', '..', '..', 'web', 'node_modules', 'axe-core', 'axe.min.js'),
  'utf8',
);
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * A dialog that is coming or going has no name for a moment, and colours on their way have no contrast of their own. An
 * animation without an end is not waited for.
 */
const STILL = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  .then(() => Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime)).map(({ finished }) => finished)))
  .then(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  .then(() => undefined)`;

/** @returns each rule that is broken now, with the element. */
export async function brokenRules(page: Evaluating): Promise<string[]> {
  await page.evaluate(STILL);
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const options = JSON.stringify({ runOnly: standards, resultTypes: ['violations'] });
  const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
  return found as string[];
}
