/** Measures how smoothly the list scrolls: the time of each frame while it is scrolled from its top to its end. */
import type { Page } from 'playwright-core';

export interface Scrolling {
  frames: number;
  /** Times between frames, in milliseconds. */
  medianMs: number;
  p99Ms: number;
  longestMs: number;
  /** Frames that came later than a display of 60 Hz shows two of them. */
  late: number;
}

const FRAMES = 600;
const LATE_MS = 34;

/** As fast as a hand turns a wheel: forty rows with each frame would be a jump, one would never come to the end. */
const STEP_PX = 160;

const SCROLL = `new Promise((resolve) => {
  const box = document.querySelector('[role="table"]');
  const times = [];
  let before = performance.now();
  const frame = (now) => {
    times.push(now - before);
    before = now;
    box.scrollBy(0, ${STEP_PX});
    if (times.length < ${FRAMES}) requestAnimationFrame(frame);
    else resolve(times.slice(1));
  };
  requestAnimationFrame(frame);
})`;

export async function measureScrolling(page: Page): Promise<Scrolling> {
  const times = ((await page.evaluate(SCROLL)) as number[]).toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
  return {
    frames: times.length,
    medianMs: at(0.5),
    p99Ms: at(0.99),
    longestMs: at(1),
    late: times.filter((time) => time > LATE_MS).length,
  };
}
