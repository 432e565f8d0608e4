/** Waits between attempts to connect again: longer each time, and not the same for all pages after a restart. */

const FIRST_MS = 500;
const MOST_MS = 20_000;

/** @param attempt Counts from 0. */
export function waitMs(attempt: number, random: number): number {
  const whole = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(whole * (0.5 + random / 2));
}
