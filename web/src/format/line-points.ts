/** Turns values into the points of a small line. */

export const LINE_WIDTH = 60;
export const LINE_HEIGHT = 16;

/** The points of an SVG's polyline: the newest value stands at the right edge. */
export function pointsOf(values: number[], most: number, across: number): string {
  const step = LINE_WIDTH / Math.max(1, across - 1);
  const shown = values.slice(-across);
  // One value is a short line, or nothing would be seen.
  const line = shown.length === 1 ? [...shown, ...shown] : shown;
  const heightOf = (value: number) => (1 - Math.min(Math.max(value / most, 0), 1)) * (LINE_HEIGHT - 2) + 1;
  const left = LINE_WIDTH - (line.length - 1) * step;
  return line.map((value, at) => `${rounded(left + at * step)},${rounded(heightOf(value))}`).join(' ');
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
