/** The dashboard of `deploy/grafana`, as a test reads it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const file = join(import.meta.dirname, '../../deploy/grafana/sandhaven.json');
const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal(`$\{datasource}`) });
const target = z.looseObject({ refId: z.string(), datasource, expr: z.string(), legendFormat: z.string() });
const place = z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() });
const panel = z.discriminatedUnion('type', [
  z.looseObject({ id: z.int(), type: z.literal('row'), title: z.string(), gridPos: place }),
  z.looseObject({
    ...{ id: z.int(), type: z.literal('timeseries'), title: z.string(), gridPos: place },
    ...{ datasource, targets: z.array(target).min(1) },
  }),
]);

/** Fields that Grafana 11 and later read of a dashboard. */
export const dashboard = z
  .looseObject({
    ...{ uid: z.string(), title: z.string(), schemaVersion: z.literal(39), panels: z.array(panel) },
    templating: z.looseObject({ list: z.array(z.looseObject({ name: z.string(), type: z.string() })) }),
  })
  .parse(JSON.parse(readFileSync(file, 'utf8')));

/** Its queries with the title of their panel, and with the variables as a viewer who chooses nothing has them. */
export const queries = dashboard.panels.flatMap((one) =>
  one.type === 'row'
    ? []
    : one.targets.map(({ expr }) => ({
        panel: one.title,
        expression: expr.replaceAll('$job', '.*').replaceAll('$__rate_interval', '30s'),
      })),
);
