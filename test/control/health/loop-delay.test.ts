/** Delay of the event loop: nothing of an idle one, and the whole of what holds it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LoopDelay } from '../../../src/control/live/health.ts';

function begun(): LoopDelay {
  const delay = new LoopDelay();
  delay.begin();
  onTestFinished(() => delay.close());
  return delay;
}

/** Returns the figure once there is one. */
async function figureOf(delay: LoopDelay): Promise<number> {
  for (;;) {
    const ms = delay.longestMs();
    if (ms !== null) return ms;
    await sleep(5);
  }
}

describe('the delay of the event loop', () => {
  it('is not known before a first look', () => {
    expect(begun().longestMs()).toBeNull();
  });

  it('is under 5 ms of an idle loop', async () => {
    const delay = begun();
    let ms = await figureOf(delay);
    // Other work on the machine makes turns late, too.
    while (ms >= 5) {
      delay.reset();
      ms = await figureOf(delay);
    }
    expect(ms).toBeGreaterThanOrEqual(0);
  });

  it('is about as long as the loop was held', async () => {
    const delay = begun();
    await figureOf(delay);
    const end = performance.now() + 200;
    while (performance.now() < end);
    // Looks are 20 ms apart: the one that came late was due up to 20 ms into the hold.
    await expect.poll(() => delay.longestMs()).toBeGreaterThanOrEqual(170);
  });
});
