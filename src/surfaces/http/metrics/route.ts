/**
 * GET /metrics: the service's metrics for Prometheus, by the key of an admin. A scrape is no tool call and leaves no audit row,
 * since it would repeat itself in what it reads; the request itself counts like any other.
 */
import type { FastifyInstance } from 'fastify';
import { scopeOf } from '../../../administration/action.ts';
import { getHealth } from '../../../administration/health.ts';
import type { Metrics } from '../../../control/metrics.ts';
import { limits } from '../../../model/limits.ts';
import { assertScope } from '../../../model/scopes.ts';
import { assertAdmin } from '../../../model/user.ts';
import type { Exposition } from './exposition.ts';
import { type Format, formats } from './families/family.ts';

export function addMetricsRoute(app: FastifyInstance, metrics: Pick<Metrics, 'look'>): void {
  const scrapes = new Scrapes(metrics);
  const config = { keysOnly: true };
  app.get('/metrics', { exposeHeadRoute: false, config }, async (request, reply) => {
    assertScope(request.caller, scopeOf(getHealth));
    assertAdmin(request.caller, 'The scrape of metrics');
    const format = wantedBy(request.headers.accept);
    const text = await scrapes.text(format);
    return reply.type(formats[format]).send(text);
  });
}

/** Texts of a moment ago, and those that are being written, for scrapes that come side by side. */
class Scrapes {
  readonly #metrics: Pick<Metrics, 'look'>;
  /** Made at the first scrape, with the library: a service that nobody scrapes loads neither. */
  #exposition: Promise<Exposition> | null = null;
  readonly #writing = new Map<Format, Promise<string>>();
  readonly #known = new Map<Format, { at: number; text: string }>();

  constructor(metrics: Pick<Metrics, 'look'>) {
    this.#metrics = metrics;
  }

  async text(format: Format): Promise<string> {
    const known = this.#known.get(format);
    if (known && performance.now() - known.at < limits.metrics.keptMs) return known.text;
    const writing =
      this.#writing.get(format) ?? this.#write(format).finally(() => this.#writing.delete(format));
    this.#writing.set(format, writing);
    return writing;
  }

  async #write(format: Format): Promise<string> {
    this.#exposition ??= import('./exposition.ts').then(({ Exposition }) => new Exposition());
    const exposition = await this.#exposition;
    const text = await exposition.write(await this.#metrics.look(), format);
    this.#known.set(format, { at: performance.now(), text });
    return text;
  }
}

/** Prometheus names OpenMetrics first, and others name what they like best. */
function wantedBy(accept: string | undefined): Format {
  return accept?.includes('application/openmetrics-text') ? 'openMetrics' : 'text';
}
