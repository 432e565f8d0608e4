/**
 * Writes figures in the formats that Prometheus reads. prom-client knows the formats and the process; the figures stay plain
 * numbers elsewhere, so counting a call costs no look at labels.
 */
import { collectDefaultMetrics, type Gauge, Registry, type RegistryContentType } from 'prom-client';
import type { Figures } from '../../../control/metrics.ts';
import { callFamilies, gatewayFamilies, trafficFamilies } from './families/calls.ts';
import { type Family, type Format, formats } from './families/family.ts';
import { hostFamilies } from './families/host.ts';
import { sandboxFamilies } from './families/sandboxes.ts';
import { serviceFamilies } from './families/service.ts';

/** Wakes an idle process less often than prom-client's own choice. */
const LOOP_RESOLUTION_MS = 20;

/**
 * They ask Node by private functions, one of which ends the process when it meets a handle that is about to go (an assertion in
 * `AsyncWrap::GetOwner`). `nodejs_active_resources` tells the same by a public one.
 */
const UNSAFE = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

/** As prom-client passes it on: it asks each metric for no more than this. */
interface Shown {
  name: string;
  help: string;
  type: unknown;
  values: readonly { value: number }[];
}

export class Exposition {
  /** Metrics of the process; made at the first scrape, so that a service that nobody scrapes measures nothing for it. */
  #process: Registry | null = null;

  async write(figures: Figures, format: Format): Promise<string> {
    const shown: Shown[] = [
      ...families.map((family) => shownOf(family, figures)),
      ...(await this.#ofProcess().getMetricsAsJSON()).map(known),
    ];
    // One for each writing: the format with counters of another name changes the metrics that it writes.
    const registry = new Registry<RegistryContentType>();
    registry.setContentType(formats[format]);
    for (const one of shown) registry.registerMetric(metricOf(one));
    return registry.metrics();
  }

  #ofProcess(): Registry {
    if (this.#process) return this.#process;
    this.#process = new Registry();
    collectDefaultMetrics({ register: this.#process, eventLoopMonitoringPrecision: LOOP_RESOLUTION_MS });
    for (const name of UNSAFE) this.#process.removeSingleMetric(name);
    return this.#process;
  }
}

function shownOf({ name, help, type, read }: Family, figures: Figures): Shown {
  const values = read(figures).map(({ labels, value, suffix }) => ({
    ...{ labels, value },
    ...(suffix ? { metricName: name + suffix } : {}),
  }));
  return { name, help, type, values };
}

/** Leaves out values that were never measured. */
function known(metric: Shown): Shown {
  return { ...metric, values: metric.values.filter(({ value }) => !Number.isNaN(value)) };
}

/** A registry reads no more of a metric than what it shows. */
function metricOf({ name, ...rest }: Shown): Gauge {
  const metric = {
    name,
    type: rest.type,
    async get() {
      return { ...rest, name: this.name };
    },
  };
  return metric as unknown as Gauge;
}

/** All metrics of the service, in the order in which they are shown. */
export const families: readonly Family[] = [
  ...callFamilies,
  ...sandboxFamilies,
  ...hostFamilies,
  ...gatewayFamilies,
  ...trafficFamilies,
  ...serviceFamilies,
];
