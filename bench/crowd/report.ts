/** Shows the levels of a growing service: as a table, and as a picture with a chart for each figure. */
import { alignColumns, number } from '../base/columns.ts';
import { drawCharts } from './charts.ts';
import type { Level } from './level.ts';

interface Figure {
  title: string;
  unit: string;
  of(level: Level): number;
}

const figures: readonly Figure[] = [
  { title: 'create, no warm pool', unit: 'ms', of: ({ createMs }) => createMs },
  { title: 'RunCommand true', unit: 'ms', of: ({ commandMs }) => commandMs },
  { title: 'stop', unit: 'ms', of: ({ stopMs }) => stopMs },
  { title: 'delete', unit: 'ms', of: ({ deleteMs }) => deleteMs },
  { title: 'list of 100', unit: 'ms', of: ({ listMs }) => listMs },
  { title: 'service RSS', unit: 'MB', of: ({ residentMb }) => residentMb },
  { title: 'processor while idle', unit: '% of one', of: ({ idlePercent }) => idlePercent },
  { title: 'event-loop delay, p99', unit: 'ms', of: ({ loopDelayMs }) => loopDelayMs },
  { title: 'restart', unit: 's', of: ({ restartS }) => restartS },
];

export function levelsTable(levels: readonly Level[]): string {
  const header = [
    'among idle sandboxes',
    '',
    ...levels.map(({ sandboxes }) => sandboxes.toLocaleString('en')),
  ];
  const lines = figures.map(({ title, unit, of }) => [
    title,
    unit,
    ...levels.map((level) => number(of(level))),
  ]);
  return alignColumns(header, lines, (column) => column >= 2);
}

/** Returns an SVG. */
export function levelsPicture(levels: readonly Level[]): string {
  return drawCharts(
    figures.map(({ title, unit, of }) => ({
      title: `${title}, ${unit}`,
      points: levels.map((level) => ({ x: level.sandboxes, y: of(level) })),
    })),
    'idle sandboxes',
  );
}
