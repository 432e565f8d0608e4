/** The table of docs/metrics.md, the dashboard and the alerts name the metrics that there are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { families } from '../../../../src/surfaces/http/metrics/exposition.ts';
import { dashboard, queries } from '../../../metrics/dashboard.ts';

const root = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const base = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
const namesIn = (text: string) =>
  [...text.matchAll(/\bsandhaven_[a-z_]+[a-z]\b/g)].map(([name]) => base(name));
const known = families.map(({ name }): string => name);

describe('metrics', () => {
  it('have one row each in the table of docs/metrics.md, in the same words', () => {
    const rows = [
      ...read('docs/metrics.md').matchAll(/^\| `(sandhaven_\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm),
    ];
    const labelsIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, label]) => label);
    expect(
      rows.map(([, name, type, labels = '', help]) => ({ name, type, labels: labelsIn(labels), help })),
    ).toEqual(families.map(({ name, type, labels, help }) => ({ name, type, labels, help })));
  });

  it('are all on the dashboard, which names no other', () => {
    const shown = new Set(queries.flatMap(({ expression }) => namesIn(expression)));
    expect([...shown].filter((name) => !known.includes(name))).toEqual([]);
    expect(known.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('are those that alerts read', () => {
    const { groups } = parse(read('deploy/prometheus/rules.yml')) as {
      groups: { rules: { expr: string }[] }[];
    };
    const inAlerts = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => namesIn(expr)));
    expect(inAlerts.filter((name) => !known.includes(name))).toEqual([]);
    expect(inAlerts.length).toBeGreaterThan(9);
  });
});

describe('the dashboard', () => {
  it('has its data source and its job as variables, and the rows of an operator', () => {
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
    ]);
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual([
      ...['Calls', 'Errors', 'Creations', 'Warm pool', 'Sandboxes', 'Host', 'Gateways', 'Service'],
    ]);
  });

  it('has panels with ids of their own that lie side by side', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlapping = panels.flatMap((one, at) =>
      panels.slice(at + 1).filter((other) => overlap(one.gridPos, other.gridPos)),
    );
    expect(overlapping.map(({ title }) => title)).toEqual([]);
  });
});

interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

function overlap(one: Place, other: Place): boolean {
  const across = one.x < other.x + other.w && other.x < one.x + one.w;
  return across && one.y < other.y + other.h && other.y < one.y + one.h;
}
