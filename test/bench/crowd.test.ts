import { describe, expect, it } from 'vitest';
import { drawCharts, ticksUpTo } from '../../bench/crowd/charts.ts';
import type { Level } from '../../bench/crowd/level.ts';
import { levelsPicture, levelsTable } from '../../bench/crowd/report.ts';

function level(sandboxes: number, createMs: number): Level {
  return {
    ...{ sandboxes, createMs, commandMs: 4, stopMs: 5, deleteMs: 6, listMs: 7 },
    ...{ residentMb: 150, idlePercent: 0.5, loopDelayMs: 1.5, restartS: 1.25 },
  };
}

describe('ticks of an axis', () => {
  it.each([
    [0, [0, 1]],
    [4, [0, 1, 2, 3, 4]],
    [7, [0, 2, 4, 6, 8]],
    [0.3, [0, 0.1, 0.2, 0.3]],
    [95, [0, 25, 50, 75, 100]],
    [1_000, [0, 250, 500, 750, 1_000]],
    [1_500, [0, 500, 1_000, 1_500]],
  ])('up to %d are %j', (largest, ticks) => {
    expect(ticksUpTo(largest)).toEqual(ticks);
  });
});

describe('the picture', () => {
  const chart = {
    title: 'create, ms',
    points: [
      { x: 0, y: 0 },
      { x: 500, y: 20 },
      { x: 1_000, y: 40 },
    ],
  };
  const svg = drawCharts([chart, { ...chart, title: 'a < b & c' }], 'idle sandboxes');

  it('puts zero into the lower left corner and the largest value into the upper right one', () => {
    expect(svg).toContain('<polyline class="line" points="52,144 166,89 280,34"/>');
  });

  it('names both axes of each chart', () => {
    expect(svg.match(/>idle sandboxes<\/text>/g)).toHaveLength(2);
    expect(svg).toContain('>create, ms</text>');
  });

  it('is read on light and dark ground', () => {
    expect(svg).toContain('@media (prefers-color-scheme: dark)');
    expect(svg).not.toContain('<rect');
  });

  it('escapes its texts', () => {
    expect(svg).toContain('>a &lt; b &amp; c</text>');
  });

  it('has a chart for each figure of a level', () => {
    expect(levelsPicture([level(0, 50), level(100, 55)]).match(/<polyline/g)).toHaveLength(9);
  });
});

describe('the table of levels', () => {
  const lines = levelsTable([level(0, 50), level(1_000, 61.04)]).split('\n');

  it('has a column for each level and a line for each figure', () => {
    expect(lines).toHaveLength(11);
    expect(lines[0]).toMatch(/^among idle sandboxes\s+0\s+1,000$/);
    expect(lines[2]).toMatch(/^create, no warm pool\s+ms\s+50\.0\s+61\.0$/);
    expect(lines[8]).toMatch(/^processor while idle\s+% of one\s+0\.50\s+0\.50$/);
    expect(lines[10]).toMatch(/^restart\s+s\s+1\.25\s+1\.25$/);
  });
});
