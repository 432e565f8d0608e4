/** The part of the OpenAPI description about metrics. */
import { failures, type Json } from './service.ts';

export const metricsPaths: Json = {
  '/metrics': {
    get: {
      operationId: 'scrapeMetrics',
      summary: 'Metrics for Prometheus',
      description:
        "For admins: it needs the scope admin. A scrape within a second of another gets that one's text.",
      tags: ['Service'],
      security: [{ bearer: [] }, { apiKey: [] }],
      responses: {
        '200': {
          description: 'The metrics, as OpenMetrics where Accept names it.',
          content: {
            'text/plain': { schema: { type: 'string' } },
            'application/openmetrics-text': { schema: { type: 'string' } },
          },
        },
        ...failures,
      },
    },
  },
};
