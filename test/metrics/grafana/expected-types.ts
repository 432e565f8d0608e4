/** Types of a dashboard as JSON has it; compiled by test/packages/dashboard-schema.test.ts, where @grafana/schema is installed. */
import type { Dashboard, Panel, RowPanel, VariableModel } from '@grafana/schema';
import type {
  FieldConfig,
  Options,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

/** Texts in the place of enumerations, which no JSON names. */
type Json<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : T;

type TimeSeries = Omit<Panel<Record<string, unknown>, FieldConfig>, 'type' | 'options'> & {
  type: 'timeseries';
  options: Partial<Options>;
};

/** The list of variables shows a definition, which the types lack. */
type Variable = VariableModel & { definition?: string };

export type DashboardJson = Json<
  Omit<Dashboard, 'panels' | 'templating'> & {
    panels: (TimeSeries | (RowPanel & { type: 'row' }))[];
    templating: { list: Variable[] };
  }
>;
